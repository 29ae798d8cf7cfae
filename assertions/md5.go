package assertions

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
)

func defineMD5() element.Definition {
	return element.DefineAssertion[md5sum]("md5", element.Doc{
		Summary:  "holds when the body has a given MD5 sum",
		Text:     "For files whose exact content is known. The body must be kept for it, so it must not be larger than `max_body`.",
		Examples: []element.Example{{YAML: `md5: "900150983cd24fb0d6963f7d28e17f72"`}},
	})
}

type md5sum struct {
	Sum expr.String `plan:"sum,required,short" doc:"the sum as 32 hexadecimal digits"`
}

// Check reports a literal that is no MD5 sum.
func (a *md5sum) Check(report func(field, code, summary, detail string)) {
	if text, ok := a.Sum.Literal(); ok && !isMD5(text) {
		report("sum", "bad-md5", fmt.Sprintf("%q is not an MD5 sum", text), "write its 32 hexadecimal digits in quotes")
	}
}

func isMD5(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 2*md5.Size
}

// Assert holds when the body's MD5 sum is the one given.
func (a *md5sum) Assert(t *element.Thread, s *element.Sample) error {
	want, err := a.Sum.Eval(t)
	if err != nil {
		return err
	}
	sum := md5.Sum(s.Body)
	have := hex.EncodeToString(sum[:])
	if strings.EqualFold(want, have) {
		return nil
	}
	return fail(t, "the body's MD5 sum is not "+written(&a.Sum), strings.ToLower(want), have)
}

// Needs says that the body is looked at.
func (*md5sum) Needs() element.Needs { return element.NeedBody }
