package reporters

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"runner/reporters/stats"
)

// parseJUnit reads a document back as a CI does.
func parseJUnit(t *testing.T, b []byte) junitSuites {
	t.Helper()
	var doc junitSuites
	if err := xml.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestJUnitAgreesWithTheExitCode(t *testing.T) {
	for _, name := range variants() {
		t.Run(name, func(t *testing.T) {
			s := variant(name)
			checkJUnit(t, s)
			for _, code := range []int{0, 1, 3, 130, 143} { // even where code and thresholds contradict
				s.ExitCode = code
				checkJUnit(t, s)
			}
		})
	}
}

func checkJUnit(t *testing.T, s *stats.Summary) {
	t.Helper()
	doc := parseJUnit(t, render(t, "junit", s))
	if got, want := doc.Failures > 0, s.ExitCode == 1; got != want {
		t.Errorf("exit code %d: %d failures", s.ExitCode, doc.Failures)
	}
	if got, want := doc.Errors > 0, s.ExitCode == 3 || s.ExitCode == 130 || s.ExitCode == 143; got != want {
		t.Errorf("exit code %d: %d errors", s.ExitCode, doc.Errors)
	}
	var tests, failures, errs int
	for _, suite := range doc.Suites {
		names := map[string]bool{}
		for _, c := range suite.Cases {
			tests++
			if c.Failure != nil {
				failures++
			}
			if c.Error != nil {
				errs++
			}
			if names[c.Name] {
				t.Errorf("two cases %q in %q", c.Name, suite.Name)
			}
			names[c.Name] = true
		}
		if suite.Tests != len(suite.Cases) {
			t.Errorf("%s says %d tests, has %d", suite.Name, suite.Tests, len(suite.Cases))
		}
	}
	if tests != doc.Tests || failures != doc.Failures || errs != doc.Errors {
		t.Errorf("sums %d/%d/%d, counted %d/%d/%d", doc.Tests, doc.Failures, doc.Errors, tests, failures, errs)
	}
}

func TestJUnitFailureTellsAll(t *testing.T) {
	doc := parseJUnit(t, render(t, "junit", fixed()))
	byName := map[string]junitCase{}
	for _, suite := range doc.Suites {
		for _, c := range suite.Cases {
			byName[suite.Name+": "+c.Name] = c
		}
	}
	order := byName["Shop under evening load / checkout: POST /orders"]
	if order.Failure == nil || order.File != planFile || order.Line != 35 {
		t.Fatalf("POST /orders: %+v", order)
	}
	for _, want := range []string{"p95 < 800 ms", "1.12 s", planFile + ":38", "POST https://shop.example.com/orders", "assertion status 201 or 409", "expected: 201 or 409", "actual:   503", "812 of 23,948 failed"} {
		if !strings.Contains(order.Failure.Text, want) {
			t.Errorf("the failure does not tell %q:\n%s", want, order.Failure.Text)
		}
	}
	product := byName["Shop under evening load / shoppers: Product"]
	if product.Failure != nil || product.Error != nil || !strings.Contains(product.SystemOut, "118 failed") {
		t.Errorf("failed samples within the limit: %+v", product)
	}
	skipped := byName["Shop under evening load / prices: prices / GET /v1/legacy"]
	if skipped.Skipped == nil || skipped.Skipped.Message != "replaced by /v1/price" {
		t.Errorf("skip: %+v", skipped)
	}
}

func TestJUnitNamesAreUnique(t *testing.T) {
	s := fixed()
	for i := range s.Series {
		s.Series[i].Name, s.Series[i].Group = []string{"a", "a (2)"}[i%2], "shoppers"
	}
	checkJUnit(t, s)
}

func TestJUnitIsWellFormedAndValid(t *testing.T) {
	lint, lintErr := exec.LookPath("xmllint")
	for _, name := range variants() {
		b := render(t, "junit", variant(name))
		dec := xml.NewDecoder(bytes.NewReader(b))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		checkOrder(t, b)
		if lintErr != nil {
			continue
		}
		path := filepath.Join(t.TempDir(), "junit.xml")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(lint, "--noout", "--nonet", "--schema", "testdata/junit.xsd", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// checkOrder holds the order of elements that the schema asks for, also where
// xmllint is not installed.
func checkOrder(t *testing.T, b []byte) {
	t.Helper()
	rank := map[string]int{"skipped": 1, "error": 2, "failure": 3, "system-out": 4}
	dec := xml.NewDecoder(bytes.NewReader(b))
	last := 0
	for {
		token, err := dec.Token()
		if err != nil {
			return
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local == "testcase" {
			last = 0
		}
		if r := rank[start.Name.Local]; r > 0 {
			if r <= last {
				t.Errorf("%s stands too late", start.Name.Local)
			}
			last = r
		}
	}
}
