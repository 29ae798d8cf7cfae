package schema

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
)

//go:embed reference.tmpl.md
var prose string

// reference fills the prose with the tables.
func (g *generator) reference() (string, error) {
	functions := functionsOf(g.reg)
	t, err := template.New("reference").Funcs(template.FuncMap{
		"object":            objectTable,
		"role":              roleTable,
		"elements":          g.elementSections,
		"functions":         func() string { return functionTable(functions, false) },
		"responseFunctions": func() string { return functionTable(functions, true) },
		"builtins":          func() string { return words(builtins(functions)) },
		"reserved":          func() string { return words(expr.Reserved(functions)) },
		"roots":             rootRows,
		"classes":           classRows,
	}).Parse(prose)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, nil); err != nil {
		return "", err
	}
	return b.String(), nil
}

// objectTable returns the doc of an object of the grammar and a table of its keys.
func objectTable(name string) (string, error) {
	o, err := grammarObject(name)
	if err != nil {
		return "", err
	}
	return o.Doc + "\n\n" + keyTable(o.Keys), nil
}

// roleTable returns the table of the keys of an object that have a role.
func roleTable(name, role string) (string, error) {
	o, err := grammarObject(name)
	if err != nil {
		return "", err
	}
	keys := slices.DeleteFunc(slices.Clone(o.Keys), func(k plan.Key) bool { return k.Role != role })
	return keyTable(keys), nil
}

func grammarObject(name string) (plan.Object, error) {
	for _, o := range plan.Grammar() {
		if o.Name == name {
			return o, nil
		}
	}
	return plan.Object{}, fmt.Errorf("the grammar has no object %q", name)
}

func words(list []string) string {
	return "`" + strings.Join(list, "` `") + "`"
}

// builtins returns the functions of the expression language itself.
func builtins(f *expr.Functions) []string {
	return slices.DeleteFunc(f.Names(), func(name string) bool { return f.Lookup(name) != nil })
}

func functionTable(f *expr.Functions, response bool) string {
	var b strings.Builder
	b.WriteString("| function | gives |\n|---|---|\n")
	for _, name := range f.Names() {
		if fn := f.Lookup(name); fn != nil && fn.Response == response {
			fmt.Fprintf(&b, "| `%s` | %s |\n", fn.Signature, cell(fn.Doc))
		}
	}
	return b.String()
}

// rootDocs explains the names of every response.
var rootDocs = map[string]string{
	"status": "HTTP status, or the code of the protocol", "duration": "time from the start of the sampler to the last byte",
	"latency": "time from sending to the first byte", "connect": "time to open the connection, 0 if one was reused",
	"size": "size of the body after decoding", "url": "the URL at the end of redirects", "body": "the body as text",
	"json": "the body as JSON: `json.items[0].id`", "headers": "the header fields", "cookies": "the cookies by name",
	"message": "the text behind the status", "ok": "whether the sample has passed so far",
}

func rootRows() (string, error) {
	roots := expr.ResponseRoots()
	var b strings.Builder
	for _, name := range slices.Sorted(mapKeys(roots)) {
		if rootDocs[name] == "" {
			return "", fmt.Errorf("the response name %q has no doc", name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, plain(roots[name].String()), rootDocs[name])
	}
	return b.String(), nil
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// classDocs explains the classes of failed samples, in the order of the reports.
var classDocs = []struct {
	class element.Class
	doc   string
}{
	{element.DNS, "the name of the host could not be resolved"},
	{element.ConnectRefused, "nobody listens on the port"},
	{element.ConnectTimeout, "no connection in the time allowed"},
	{element.Connect, "no connection for another reason"},
	{element.TLS, "the TLS handshake failed, or the certificate is not trusted"},
	{element.Timeout, "no complete answer in the time allowed"},
	{element.Reset, "the connection was reset"},
	{element.ResetReused, "a kept connection was closed by the server while the next request was on its way"},
	{element.ClosedEarly, "the server closed the connection before an answer"},
	{element.Truncated, "the body is shorter than announced"},
	{element.Protocol, "the answer breaks the protocol"},
	{element.Decode, "the body could not be decompressed, or grows too much"},
	{element.BodyTooLarge, "the body is larger than `max_body`"},
	{element.HeaderTooLarge, "the header fields are too large"},
	{element.Redirect, "too many redirects, or one that leads nowhere"},
	{element.LocalResource, "the load generator ran out of ports or open files: not the target's fault"},
	{element.Status, "the status is not the one that was wanted"},
	{element.Assert, "another assertion does not hold"},
	{element.Extract, "an extractor found nothing"},
	{element.Expression, "an expression could not be evaluated, such as a variable that is not set"},
	{element.Cancelled, "the run was stopped meanwhile"},
}

func classRows() string {
	var b strings.Builder
	for _, c := range classDocs {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.class, c.doc)
	}
	return b.String()
}
