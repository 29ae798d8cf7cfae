// Package assertions has the assertions of the language, one file each. An
// assertion judges a filled sample and returns an *element.Failure where it does
// not hold; a sample that passes costs no allocation where the assertion is made
// of literals.
//
// A failure's message is the same for every sample (failures are counted by it);
// what was expected and what was found stand beside it, cut to a readable length
// and without secrets.
package assertions

import "runner/plan/element"

// All returns the definitions of all assertions.
func All() []element.Definition {
	return []element.Definition{
		defineExpression(), defineStatus(), defineDuration(), defineSize(), defineBody(), defineText(),
		defineHeader(), defineCookie(), defineJSON(), defineJSONSchema(), defineJMESPath(), defineCSS(), defineXPath(),
		defineXML(), defineMD5(),
	}
}
