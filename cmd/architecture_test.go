package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allowed maps each package to the module's packages that it may import; a
// trailing /... stands for a package and all below it. Tests may import anything
// below their own package's level; they are not held to it.
var allowed = map[string][]string{
	"cmd/runner":               {"cmd", "cmd/internal/start"},
	"cmd":                      {"..."},
	"cmd/internal/bench":       {},
	"cmd/internal/start":       {},
	"cmd/internal/witness":     {},
	"plan/source":              {},
	"plan/expr":                {"plan/source"},
	"plan/spec":                {"plan/expr", "plan/source"},
	"plan/element":             {"plan/spec", "plan/expr", "plan/source"},
	"plan/element/elementtest": {"plan", "plan/element", "plan/spec", "plan/expr", "plan/source"},
	"plan/query":               {"plan/element", "plan/expr", "plan/source"},
	"plan/data":                {"plan/element", "plan/expr", "plan/source", "plan/query"},
	"plan":                     {"plan/element", "plan/spec", "plan/expr", "plan/source"},
	"plan/engine":              {"plan", "plan/element", "plan/spec", "plan/expr", "plan/source"},
	"samplers":                 {"samplers/...", "plan/element"},
	"samplers/dummy":           {"plan/element", "plan/spec", "plan/expr", "plan/source"},
	"samplers/certs":           {"plan/spec"},
	"samplers/grpc":            {"samplers/certs", "plan/element", "plan/spec", "plan/expr", "plan/source"},
	"samplers/http":            {"plan/element", "plan/spec", "plan/expr", "plan/source", "samplers/http/h1", "samplers/http/auth", "samplers/certs"},
	"samplers/http/h1":         {},
	"samplers/http/auth":       {"samplers/http/h1"},
	"samplers/sql":             {"plan/element", "plan/expr", "plan/source"},
	"samplers/extract":         {"plan/query", "plan/element", "plan/spec", "plan/expr", "plan/source"},
	"timers":                   {"plan/element", "plan/spec", "plan/expr", "plan/source"},
	"assertions":               {"plan/query", "plan/element", "plan/spec", "plan/expr", "plan/source"},
	"reporters":                {"reporters/stats", "reporters/assets"},
	"reporters/assets":         {},
	"reporters/compare":        {"reporters/stats"},
	"reporters/stats":          {"plan/element", "plan/expr", "plan/source"},
	"plans":                    {},
	"plans/demo":               {},
	"schema":                   {"plan", "plan/element", "plan/spec", "plan/expr", "plan/source", "reporters/stats"},
	"schema/generate":          {"..."},
}

// owners maps a library to the only packages that may import it.
var owners = map[string][]string{
	"gopkg.in/yaml.v3":                        {"plan"},
	"github.com/expr-lang/expr":               {"plan/expr"},
	"github.com/HdrHistogram/hdrhistogram-go": {"reporters/stats"},
	"github.com/spf13/cobra":                  {"cmd"},
	"github.com/xuri/excelize/v2":             {"reporters"},
	"google.golang.org/grpc":                  {"samplers/grpc"},
	"google.golang.org/protobuf":              {"samplers/grpc"},
	"github.com/bufbuild/protocompile":        {"samplers/grpc"},
	"github.com/antchfx":                      {"plan/query"},
	"github.com/jmespath/go-jmespath":         {"plan/query"},
	"github.com/jackc/pgx/v5":                 {"samplers/sql"},
	"github.com/go-sql-driver/mysql":          {"samplers/sql"},
	"modernc.org/sqlite":                      {"samplers/sql"},
	"github.com/santhosh-tekuri/jsonschema":   {"assertions"},
}

type sourceFile struct {
	pkg, path string
	file      *ast.File
	set       *token.FileSet
	lines     int
}

func sources(t *testing.T) []sourceFile {
	t.Helper()
	var all []sourceFile
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != ".." || entry.Name() == "testdata" || entry.Name() == "results") {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(filepath.ToSlash(name), "../")
		all = append(all, sourceFile{path.Dir(rel), rel, file, set, strings.Count(string(text), "\n")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: the walk is broken", len(all))
	}
	return all
}

func TestImportsPointDownwards(t *testing.T) {
	for _, f := range sources(t) {
		if strings.HasSuffix(f.path, "_test.go") || f.pkg == "." {
			continue
		}
		rules, known := allowed[f.pkg]
		if !known {
			t.Errorf("%s: package %s is not in the table of allowed imports", f.path, f.pkg)
			continue
		}
		for _, spec := range f.file.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			if inner, ok := strings.CutPrefix(name, "runner/"); ok && !permits(rules, inner) {
				t.Errorf("%s: %s must not import %s", f.path, f.pkg, inner)
			}
		}
	}
}

func permits(rules []string, name string) bool {
	return slices.ContainsFunc(rules, func(rule string) bool {
		prefix, tree := strings.CutSuffix(rule, "...")
		return rule == name || tree && strings.HasPrefix(name+"/", prefix)
	})
}

func TestLibrariesHaveOneOwner(t *testing.T) {
	yamlFiles := map[string]bool{}
	for _, f := range sources(t) {
		if strings.HasSuffix(f.path, "_test.go") || f.pkg == "." {
			continue
		}
		for _, spec := range f.file.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			for library, packages := range owners {
				if (name == library || strings.HasPrefix(name, library+"/")) && !slices.Contains(packages, f.pkg) {
					t.Errorf("%s: only %v may import %s", f.path, packages, library)
				}
			}
			if name == "gopkg.in/yaml.v3" {
				yamlFiles[f.path] = true
			}
		}
	}
	if len(yamlFiles) != 1 {
		t.Errorf("the YAML library is imported by %v, want one file", yamlFiles)
	}
}

func TestFilesAndFunctionsStaySmall(t *testing.T) {
	for _, f := range sources(t) {
		if f.lines > 600 {
			t.Errorf("%s has %d lines, at most 600", f.path, f.lines)
		}
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		for _, d := range f.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := f.set.Position(fn.End()).Line - f.set.Position(fn.Pos()).Line; n > 80 {
				t.Errorf("%s: %s has %d lines, at most 80", f.path, fn.Name.Name, n)
			}
			if fn.Name.Name == "init" && fn.Recv == nil {
				t.Errorf("%s: no init functions", f.path)
			}
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range sources(t) {
		if strings.HasSuffix(f.path, "_test.go") || f.file.Name.Name == "main" {
			continue
		}
		for _, d := range f.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
					t.Errorf("%s: %s has no comment", f.path, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
						t.Errorf("%s: type %s has no comment", f.path, s.Name.Name)
					}
				}
			}
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	kind := d.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if index, ok := kind.(*ast.IndexExpr); ok {
		kind = index.X
	}
	name, ok := kind.(*ast.Ident)
	return ok && name.IsExported()
}
