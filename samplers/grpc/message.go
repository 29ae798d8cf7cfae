package grpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// procedure is a method that can be called. Safe for concurrent use.
type procedure struct {
	name    string // as it goes over the wire
	in, out protoreflect.MessageDescriptor
	many    bool // the client streams
	stream  bool // the server streams
	types   types

	loose  atomic.Bool // a value has been of another type than its field
	static [][]byte    // the messages, where none holds an expression
}

// trees returns the messages as the plan has them.
func (c *call) trees() []expr.Tree {
	if len(c.Messages) > 0 {
		return c.Messages
	}
	return []expr.Tree{c.Message}
}

// freeze makes the messages now if they cannot change.
func (p *procedure) freeze(trees []expr.Tree) error {
	var all [][]byte
	for i := range trees {
		if !trees[i].IsStatic() {
			return nil
		}
		m, err := p.encode(trees[i], nil)
		if err != nil {
			return err
		}
		all = append(all, m)
	}
	p.static = all
	return nil
}

// messages returns what is to be sent.
func (p *procedure) messages(trees []expr.Tree, s expr.Scope) ([][]byte, error) {
	if p.static != nil {
		return p.static, nil
	}
	all := make([][]byte, len(trees))
	for i := range trees {
		var err error
		if all[i], err = p.encode(trees[i], s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// encode makes a message of a tree.
func (p *procedure) encode(tree expr.Tree, s expr.Scope) ([]byte, error) {
	if !tree.IsSet() {
		return []byte{}, nil
	}
	text, err := tree.AppendJSON(nil, s)
	if err != nil {
		return nil, err
	}
	m := dynamicpb.NewMessage(p.in)
	options := protojson.UnmarshalOptions{Resolver: p.types, AllowPartial: true}
	if p.loose.Load() || options.Unmarshal(text, m) != nil {
		fitted, err := p.fitted(text)
		if err != nil {
			return nil, err
		}
		proto.Reset(m)
		if err := options.Unmarshal(fitted, m); err != nil {
			return nil, &element.Error{Class: element.Expression, Message: "message: " + plain(err), Err: err}
		}
		p.loose.Store(true)
	}
	data, err := proto.Marshal(m)
	if err != nil {
		return nil, &element.Error{Class: element.Expression, Message: "message: " + plain(err), Err: err}
	}
	return data, nil
}

// fitted returns the JSON with numbers as text where a field takes text.
func (p *procedure) fitted(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, &element.Error{Class: element.Expression, Message: "message: it is no JSON", Err: err}
	}
	return json.Marshal(fitMessage(p.in, v))
}

func fitMessage(d protoreflect.MessageDescriptor, v any) any {
	if d.FullName() == "google.protobuf.StringValue" || d.FullName() == "google.protobuf.BoolValue" {
		return fitScalar(d.Fields().ByNumber(1), v)
	}
	m, ok := v.(map[string]any)
	if !ok || strings.HasPrefix(string(d.FullName()), "google.protobuf.") {
		return v
	}
	for name, value := range m {
		if f := field(d, name); f != nil {
			m[name] = fitField(f, value)
		}
	}
	return m
}

// field finds a field by either of its names.
func field(d protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if f := d.Fields().ByName(protoreflect.Name(name)); f != nil {
		return f
	}
	return d.Fields().ByJSONName(name)
}

func fitField(f protoreflect.FieldDescriptor, v any) any {
	switch list, isList := v.([]any); {
	case f.IsMap():
		if m, ok := v.(map[string]any); ok {
			for k := range m {
				m[k] = fitOne(f.MapValue(), m[k])
			}
		}
		return v
	case f.IsList() && isList:
		for i := range list {
			list[i] = fitOne(f, list[i])
		}
		return v
	}
	return fitOne(f, v)
}

func fitOne(f protoreflect.FieldDescriptor, v any) any {
	if f.Message() != nil {
		return fitMessage(f.Message(), v)
	}
	return fitScalar(f, v)
}

func fitScalar(f protoreflect.FieldDescriptor, v any) any {
	switch text, isText := v.(string); f.Kind() {
	case protoreflect.StringKind:
		switch v := v.(type) {
		case json.Number:
			return string(v)
		case bool:
			return fmt.Sprint(v)
		}
	case protoreflect.BoolKind:
		if isText && (text == "true" || text == "false") {
			return text == "true"
		}
	}
	return v
}

var place = regexp.MustCompile(`\(line \d+:\d+\): `)

// plain returns what the library says of a message, without places in a text that
// nobody wrote and without values.
func plain(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	text = place.ReplaceAllString(strings.TrimPrefix(text, "proto: "), "")
	if strings.HasPrefix(text, "invalid value for") || strings.HasPrefix(text, "syntax error") {
		if at := strings.LastIndex(text, ": "); at > 0 {
			text = text[:at]
		}
	}
	return text
}

// unknownField returns what is wrong with the keys of a message, as far as they
// are known, and the remedy.
func unknownField(d protoreflect.MessageDescriptor, n *source.Node, path string) (summary, detail string) {
	if n == nil || n.Kind != source.Map || strings.HasPrefix(string(d.FullName()), "google.protobuf.") {
		return "", ""
	}
	for _, f := range n.Fields {
		key := f.Key.Text
		if strings.Contains(key, "${") || strings.HasPrefix(key, "[") {
			continue
		}
		known := field(d, key)
		if known == nil {
			return fmt.Sprintf("the message %s has no field %s", d.FullName(), path+key), fieldHint(d, key)
		}
		if summary, detail = unknownInside(known, f.Value, path+key); summary != "" {
			return summary, detail
		}
	}
	return "", ""
}

func unknownInside(f protoreflect.FieldDescriptor, n *source.Node, path string) (summary, detail string) {
	switch {
	case n == nil || f.IsMap() || f.Message() == nil:
		return "", ""
	case n.Kind == source.List && f.IsList():
		for i, item := range n.Items {
			if summary, detail = unknownField(f.Message(), item, fmt.Sprintf("%s[%d].", path, i)); summary != "" {
				return summary, detail
			}
		}
		return "", ""
	}
	return unknownField(f.Message(), n, path+".")
}

func fieldHint(d protoreflect.MessageDescriptor, key string) string {
	names := make([]string, d.Fields().Len())
	for i := range names {
		names[i] = string(d.Fields().Get(i).Name())
	}
	if word := expr.DidYouMean(key, names); word != "" {
		return fmt.Sprintf("did you mean `%s`?", word)
	}
	if len(names) == 0 {
		return "it has no fields"
	}
	return "its fields are " + strings.Join(names, ", ")
}
