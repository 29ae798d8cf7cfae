package assertions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"runner/plan/element"
	"runner/plan/query"
	"runner/plan/spec"
)

func defineJSONSchema() element.Definition {
	return element.DefineAssertion[jsonSchema]("json_schema", element.Doc{
		Summary: "holds when the body is JSON that a JSON Schema allows",
		Text: "The schema is a file, in the version that its `$schema` names (2020-12 if it names none; 2019-09, draft-07, draft-06 and draft-04 are known too). " +
			"It may refer to other files beside and below it. Nothing is fetched over the network.",
		Examples: []element.Example{{YAML: "json_schema: schemas/order.json"}},
	})
}

type jsonSchema struct {
	File spec.Path `plan:"file,required,short" doc:"file of the schema, relative to the plan"`

	schema *jsonschema.Schema
}

const maxSchema = 4 << 20 // bytes of a schema file

// Open reads and compiles the schema.
func (a *jsonSchema) Open(context.Context) error {
	full, err := filepath.Abs(a.File.Full)
	if err != nil {
		return fmt.Errorf("schema %s: %w", a.File.Written, err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(beside(filepath.Dir(full)))
	schema, err := c.Compile(fileURL(full))
	if err != nil {
		return fmt.Errorf("schema %s: %w", a.File.Written, schemaError(err))
	}
	a.schema = schema
	return nil
}

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// schemaError leaves out where the file lies.
func schemaError(err error) error {
	var loading *jsonschema.LoadURLError
	if errors.As(err, &loading) {
		return loading.Err
	}
	return err
}

// beside loads files of one directory and those below it, and nothing else.
type beside string

// Load implements jsonschema.URLLoader.
func (dir beside) Load(ref string) (any, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "file" {
		return nil, fmt.Errorf("it refers to %s; only files beside the schema are read", ref)
	}
	root, err := os.OpenRoot(string(dir))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	path := filepath.FromSlash(u.Path)
	if filepath.VolumeName(string(dir)) != "" {
		path = strings.TrimPrefix(path, string(filepath.Separator))
	}
	name, err := filepath.Rel(string(dir), path)
	if err != nil {
		return nil, err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSchema(f)
}

func readSchema(f *os.File) (any, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSchema {
		return nil, fmt.Errorf("%s is larger than %d MiB", filepath.Base(f.Name()), maxSchema>>20)
	}
	v, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		return nil, fmt.Errorf("%s is not JSON: %w", filepath.Base(f.Name()), err)
	}
	return v, nil
}

// Assert holds when the schema allows the body.
func (a *jsonSchema) Assert(t *element.Thread, s *element.Sample) error {
	if a.schema == nil {
		return errors.New("the schema has not been read")
	}
	name := filepath.Base(a.File.Written)
	tree, err := s.JSON()
	if err != nil {
		return fail(t, "the body is not JSON", "JSON as "+name+" has it", quote(t, s.Body))
	}
	if !judgeable(tree, query.MaxDepth) {
		return fail(t, "the body does not match "+name, "JSON of numbers and levels that can be judged", fmt.Sprintf("a number out of range, or more than %d levels", query.MaxDepth))
	}
	var invalid *jsonschema.ValidationError
	switch err := a.schema.Validate(tree); {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		where, want, have := explain(invalid, tree)
		return fail(t, "the body does not match "+name, cut(t.Masker.Mask(where+": "+want)), show(t, have))
	default:
		return err
	}
}

// judgeable reports whether the library can judge a tree: it knows no infinite
// numbers and goes as deep as the tree.
func judgeable(v any, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case float64:
		return !math.IsInf(v, 0)
	case []any:
		for _, m := range v {
			if !judgeable(m, depth-1) {
				return false
			}
		}
	case map[string]any:
		for _, m := range v {
			if !judgeable(m, depth-1) {
				return false
			}
		}
	}
	return true
}

// explain returns the place of the deepest first cause, what the schema asks for
// there, and what stands there.
func explain(e *jsonschema.ValidationError, tree any) (where, want string, have any) {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	where, have = "$", tree
	for _, key := range e.InstanceLocation {
		switch v := have.(type) {
		case map[string]any:
			have = v[key]
			where += "." + key
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err == nil && i >= 0 && i < len(v) {
				have = v[i]
			}
			where += "[" + key + "]"
		}
	}
	return where, e.ErrorKind.LocalizedString(message.NewPrinter(language.English)), have
}

// Needs says that the body is looked at.
func (*jsonSchema) Needs() element.Needs { return element.NeedBody }
