package plans_test

import (
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plans"
	"runner/plans/demo"
)

var names = []string{
	"breakpoint.yaml", "checkout.yaml", "load.yaml", "login.yaml", "quickstart.yaml",
	"rate.yaml", "smoke.yaml", "soak.yaml", "spike.yaml", "stress.yaml",
}

func TestAllPlansAreEmbedded(t *testing.T) {
	got, err := fs.Glob(plans.FS(), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
}

func TestPlansBeginForEditors(t *testing.T) {
	for _, name := range names {
		text, err := fs.ReadFile(plans.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		if lines[0] != "# yaml-language-server: $schema=../schema/plan.schema.json" {
			t.Errorf("%s begins with %q", name, lines[0])
		}
		hasBase := func(l string) bool {
			return strings.HasPrefix(l, "  base: ") && strings.Contains(l, "http://localhost:8080")
		}
		if !slices.ContainsFunc(lines, hasBase) {
			t.Errorf("%s has no variable base", name)
		}
		checkLines(t, name, lines)
	}
}

func checkLines(t *testing.T, name string, lines []string) {
	t.Helper()
	for i, l := range lines {
		if len(l) > 110 || strings.ContainsAny(l, "\t\r") || strings.TrimRight(l, " ") != l {
			t.Errorf("%s:%d is too long or has stray white space: %q", name, i+1, l)
		}
	}
}

func TestQuickstartStandsAlone(t *testing.T) {
	want, _ := fs.ReadFile(plans.FS(), "quickstart.yaml")
	first := plans.Quickstart()
	if diff := cmp.Diff(string(want), string(first)); diff != "" {
		t.Fatalf("Quickstart (-file +got):\n%s", diff)
	}
	clear(first)
	if string(plans.Quickstart()) != string(want) {
		t.Error("a caller can change the text")
	}
	if strings.Contains(string(want), "\ndata:") {
		t.Error("needs a data file")
	}
}

func TestAccountsSignIn(t *testing.T) {
	f, err := plans.FS().Open("data/accounts.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"email", "password"}, rows[0]); diff != "" || len(rows) != 501 {
		t.Fatalf("%d lines, header (-want +got):\n%s", len(rows), diff)
	}
	shop, seen := demo.New(demo.Options{}), map[string]bool{}
	for i, row := range rows[1:] {
		body, _ := json.Marshal(map[string]string{"email": row[0], "password": row[1]})
		w := httptest.NewRecorder()
		shop.ServeHTTP(w, httptest.NewRequest("POST", "/api/login", strings.NewReader(string(body))))
		var got struct {
			User struct {
				ID    int
				Email string
			}
		}
		json.Unmarshal(w.Body.Bytes(), &got)
		if w.Code != 200 || got.User.ID != i+1 || got.User.Email != row[0] || seen[row[0]] {
			t.Errorf("row %d (%s): status %d, user %+v", i+1, row[0], w.Code, got.User)
		}
		seen[row[0]] = true
	}
}
