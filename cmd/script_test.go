package cmd_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"runner/cmd"
	"runner/plans"
	"runner/plans/demo"
)

// TestMain makes the test binary the program when it is started as "runner", so
// that a session is a process of its own: its exit code, its signals, its child.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"runner":  func() { os.Exit(cmd.Main(cmd.OS())) },
		"witness": func() { os.Exit(witnessMain()) },
	})
}

// TestScript runs the sessions of testdata/script. Beside testscript's own
// commands they may say:
//
//	run CODE args…          runs the program, which must end with this code
//	interrupt CODE SIGNAL,… args…  likewise, but sends it the signals once the shop was
//	                        asked for something; what it prints is in out.txt
//	shop [MISBEHAVIOUR]     starts a shop, whose address is $SHOP, or changes its manners
//	served OP N|FILE        compares the requests that the shop saw with a number, or with
//	                        the ledger of a summary
//	json FILE PATH OP VALUE compares a value of a JSON file; OP is == != > >= < <=
//	absent TEXT PATH…       the text is in no file of these folders, inside workbooks either
//	cut FILE                removes the last third of a file
//	lines FILE MAX          the file (or stdout, stderr) has at most so many lines
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": scriptRun, "interrupt": scriptInterrupt, "shop": scriptShop, "served": scriptServed,
			"json": scriptJSON, "absent": scriptAbsent, "cut": scriptCut, "lines": scriptLines,
		},
	})
}

// timeLimit is a limit that a plan sets on times. The machine of a test may be
// busy, so sessions do not judge the plans by it.
var timeLimit = regexp.MustCompile(`(p\d+ <|duration:) \d+m?s`)

// setUpScript puts the example plans into plans/, patient with slow machines.
func setUpScript(env *testscript.Env) error {
	env.Setenv("CI", "true")
	return fs.WalkDir(plans.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path := filepath.Join(env.WorkDir, "plans", name)
		if entry.IsDir() {
			return os.MkdirAll(path, 0o755)
		}
		text, err := fs.ReadFile(plans.FS(), name)
		if err != nil {
			return err
		}
		return os.WriteFile(path, timeLimit.ReplaceAll(text, []byte("$1 30s")), 0o644)
	})
}

func want(ts *testscript.TestScript, neg bool, args []string, low, high int, usage string) {
	if neg || len(args) < low || high >= 0 && len(args) > high {
		ts.Fatalf("usage: %s", usage)
	}
}

// checkCode compares how a process ended with the expected exit code.
func checkCode(ts *testscript.TestScript, err error, expected string) {
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != expected {
		ts.Fatalf("exit code %d, want %s", code, expected)
	}
}

func scriptRun(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, -1, "run CODE args...")
	checkCode(ts, ts.Exec("runner", args[1:]...), args[0])
}

var signals = map[string]os.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}

func scriptInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, -1, "interrupt CODE SIGNAL args...")
	program, err := exec.LookPath("runner")
	ts.Check(err)
	before := requests(ts)
	var out bytes.Buffer
	c := exec.Command(program, args[2:]...)
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &out, &out
	ts.Check(c.Start())
	for deadline := time.Now().Add(10 * time.Second); requests(ts) < before+3; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = c.Process.Kill()
			_ = c.Wait()
			ts.Fatalf("nothing was sent within 10 s:\n%s", out.String())
		}
	}
	for i, name := range strings.Split(args[1], ",") {
		if i > 0 {
			time.Sleep(500 * time.Millisecond) // a signal at once after the first is its echo
		}
		ts.Check(c.Process.Signal(signals[name]))
	}
	err = c.Wait()
	ts.Logf("%s", out.String())
	ts.Check(os.WriteFile(ts.MkAbs("out.txt"), out.Bytes(), 0o644))
	checkCode(ts, err, args[0])
}

func scriptShop(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 0, 1, "shop [MISBEHAVIOUR]")
	if ts.Getenv("SHOP") == "" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		server := &http.Server{Handler: demo.New(demo.Options{})}
		done := make(chan struct{})
		go func() { defer close(done); _ = server.Serve(listener) }()
		ts.Defer(func() { _ = server.Close(); <-done })
		ts.Setenv("SHOP", "http://"+listener.Addr().String())
	}
	if len(args) == 1 {
		answer, err := http.Post(ts.Getenv("SHOP")+"/chaos", "application/json", strings.NewReader(args[0]))
		ts.Check(err)
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			ts.Fatalf("the shop refuses this misbehaviour: %s", answer.Status)
		}
	}
}

// requests returns how many requests the script's shop has seen.
func requests(ts *testscript.TestScript) int64 {
	answer, err := http.Get(ts.Getenv("SHOP") + "/stats")
	ts.Check(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	ts.Check(err)
	return gjson.GetBytes(text, "requests").Int()
}

func scriptServed(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, 2, "served OP N|FILE")
	expected := args[1]
	if _, err := strconv.Atoi(expected); err != nil {
		expected = gjson.Get(ts.ReadFile(args[1]), "ledger.requests").Raw
	}
	got := strconv.FormatInt(requests(ts), 10)
	if !holds(got, args[0], expected) {
		ts.Fatalf("the shop has seen %s requests, want %s %s", got, args[0], expected)
	}
}

func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 4, 4, "json FILE PATH OP VALUE")
	text := ts.ReadFile(args[0])
	if !gjson.Valid(text) {
		ts.Fatalf("%s is not JSON:\n%s", args[0], text)
	}
	got := gjson.Get(text, args[1])
	if !got.Exists() && args[3] != "absent" {
		ts.Fatalf("%s has no %s", args[0], args[1])
	}
	value := got.String()
	if !got.Exists() {
		value = "absent"
	}
	if !holds(value, args[2], args[3]) {
		ts.Fatalf("%s: %s is %s, want %s %s", args[0], args[1], value, args[2], args[3])
	}
}

// holds compares as numbers where both are, else as text.
func holds(a, op, b string) bool {
	order := strings.Compare(a, b)
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		order = 0
		if x < y {
			order = -1
		} else if x > y {
			order = 1
		}
	}
	return map[string]bool{
		"==": order == 0, "!=": order != 0, ">": order > 0, ">=": order >= 0, "<": order < 0, "<=": order <= 0,
	}[op]
}

func scriptAbsent(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, -1, "absent TEXT PATH...")
	files := 0
	for _, root := range args[1:] {
		err := filepath.WalkDir(ts.MkAbs(root), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			files++
			text, err := os.ReadFile(name)
			if err == nil && (bytes.Contains(text, []byte(args[0])) || inArchive(text, args[0])) {
				ts.Fatalf("%s holds %q", name, args[0])
			}
			return err
		})
		ts.Check(err)
	}
	if files == 0 {
		ts.Fatalf("there is no file in %s", args[1:])
	}
}

// inArchive looks for text in the parts of a ZIP archive, as a workbook is one.
func inArchive(data []byte, text string) bool {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return false
	}
	for _, part := range archive.File {
		r, err := part.Open()
		if err != nil {
			return true
		}
		content, err := io.ReadAll(r)
		_ = r.Close()
		if err != nil || bytes.Contains(content, []byte(text)) {
			return true
		}
	}
	return false
}

func scriptCut(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 1, "cut FILE")
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text[:len(text)*2/3]), 0o644))
}

func scriptLines(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, 2, "lines FILE MAX")
	text := strings.TrimSpace(ts.ReadFile(args[0]))
	limit, err := strconv.Atoi(args[1])
	ts.Check(err)
	if n := strings.Count(text, "\n") + 1; n > limit {
		ts.Fatalf("%s has %d lines, want at most %d:\n%s", args[0], n, limit, text)
	}
}
