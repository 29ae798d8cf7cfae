// Package spec turns struct tags into everything that the language knows of an
// element: how its part of a plan is decoded, checked and bound, how defaults
// are merged into it, and how it is described in the schema and the reference.
//
// # Tags
//
// A field that belongs to the language is exported and tagged:
//
//	Address expr.String   `plan:"address,required,short" doc:"host and port to dial"`
//	Timeout expr.Duration `plan:"timeout" doc:"limit for the whole exchange" default:"30s" min:"1ms"`
//
//	plan:"KEY[,OPTION…]"  the key in the plan; "-" or no tag: not part of the language
//	    required          the key must be there (or the value short for it)
//	    short             a scalar or list given where the element's map is expected
//	                      is decoded into this field; at most one per struct. A map
//	                      is, too, if the struct has no other key, or none of the
//	                      map's keys is one of the struct's
//	    inline            for embedded or named structs: their keys stand beside the
//	                      others; KEY is left empty: `plan:",inline"`
//	    single            for lists: one item may stand alone without brackets
//	    fold              for Map: keys are compared without regard to case (headers)
//	    nonempty          the text, list or map must not be empty
//	doc:"…"               one line for the reference and the schema; every field has it
//	default:"30s"         what stands if the key is absent, as written in a plan
//	min:"1ms" max:"1h"    inclusive bounds of a number, duration, rate, size or share,
//	                      as written in a plan; of a list or map: of its length
//	enum:"a|b|c"          the texts that are legal (a ${…} is checked when it is known:
//	                      the element checks what it evaluates)
//	secret:"true"         the value is masked wherever it is shown
//	group:"body"          at most one field of the group may be given; with
//	                      `required` on one of them exactly one
//
// # Types
//
// A field is one of
//
//	expr.Value[T] (expr.String, expr.Int, expr.Duration …), expr.Condition, expr.Tree,
//	    expr.Text                     anything with Decode(n, ds): ${…} allowed where it allows it
//	string bool int int64 float64 time.Duration
//	                                  literals: no ${…}
//	[]T  Map[T]                       lists, and maps in the order of the file
//	struct, *struct                   a nested map; the pointer stays nil if absent
//	*T of any of the above            nil if absent
//	Node                              the raw *source.Node
//	NodeDecoder                       a type that decodes itself; NodeBinder if it
//	                                  holds expressions, NodeDescriber for the schema
//
// Decode reports every problem with its place and a remedy and never stops at the
// first one. An element with rules across fields implements element.Checker.
package spec
