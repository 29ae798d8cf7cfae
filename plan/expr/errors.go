package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/file"

	"runner/plan/source"
)

// UnsetError says that an expression used a name that has no value now.
type UnsetError struct{ Name string }

// Error names the variable and says why it may have none.
func (e *UnsetError) Error() string {
	switch root, _, _ := strings.Cut(e.Name, "."); {
	case root == "json" || strings.HasPrefix(root, "json["):
		return "json has no value: the body is not JSON"
	case root == "env":
		return fmt.Sprintf("the environment variable %s is not set", strings.TrimPrefix(e.Name, "env."))
	case ResponseRoots()[root] != AnyType:
		return root + " has no value: there is no response"
	}
	return fmt.Sprintf("the variable %s is not set", e.Name[strings.LastIndexByte(e.Name, '/')+1:])
}

// EvalError is an expression that could not be evaluated, with its place.
type EvalError struct {
	Source string // the expression as written
	Range  source.Range
	Err    error
}

// Error returns the expression and the cause, in one line.
func (e *EvalError) Error() string { return fmt.Sprintf("%s: %v", oneLine(e.Source), e.Err) }

// Unwrap returns the cause.
func (e *EvalError) Unwrap() error { return e.Err }

// TypeError says that a value was of the wrong type at run time.
type TypeError struct{ Message string }

// Error returns the message.
func (e *TypeError) Error() string { return e.Message }

// oneLine shortens text for a message.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 120 {
		return string(r[:117]) + "..."
	}
	return text
}

// cause turns what the VM returned into an error of one line in the language's
// own words.
func cause(err error) error {
	var unset *UnsetError
	var typ *TypeError
	if errors.As(err, &unset) {
		return unset
	}
	if errors.As(err, &typ) {
		return typ
	}
	var f *file.Error
	if !errors.As(err, &f) {
		return err
	}
	if f.Prev != nil {
		if _, rt := f.Prev.(interface{ RuntimeError() }); !rt {
			return f.Prev
		}
	}
	return errors.New(plainWords(f.Message))
}

var goTypes = strings.NewReplacer(
	"map[string]interface {}", "a map", "map[string]interface{}", "a map", "[]interface {}", "a list", "[]interface{}", "a list",
	"int64", "an int", "float64", "a float", "string", "text", "bool", "true or false", "<nil>", "nil", "int", "an int",
)

func plainWords(msg string) string {
	msg, _, _ = strings.Cut(msg, "\n")
	if rest, ok := strings.CutPrefix(msg, "interface conversion: interface {} is "); ok {
		was, want, _ := strings.Cut(rest, ", not ")
		return "expected " + goTypes.Replace(want) + ", was " + goTypes.Replace(was)
	}
	for _, p := range []string{"invalid operation: ", "invalid argument for ", "runtime error: ", "reflect: "} {
		if rest, ok := strings.CutPrefix(msg, p); ok {
			return strings.TrimPrefix(p, "runtime error: ") + goTypes.Replace(rest)
		}
	}
	return goTypes.Replace(msg)
}
