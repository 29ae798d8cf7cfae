package expr

import "runner/plan/source"

// WithFragment returns a child of e, the Env of the call, for what a fragment
// holds. Text that stands inside knows only the names of base and those given,
// which are looked up under prefix + name at run time; text from elsewhere, such
// as inherited defaults, keeps the names of e.
func (e *Env) WithFragment(base *Env, inside source.Range, prefix string, names map[string]Type) *Env {
	c := *base
	c.outside, c.inside, c.prefix = e, inside, prefix
	return c.WithOwn(names)
}

// WithOwn returns a child in which names are legal that belong to the fragment, if
// e is one's.
func (e *Env) WithOwn(names map[string]Type) *Env {
	c := e.WithAll(names)
	c.own = c.prefix
	return c
}

// at returns the Env for text that stands at r.
func (e *Env) at(r source.Range) *Env {
	for e.outside != nil && !r.IsZero() && !within(r, e.inside) {
		e = e.outside
	}
	return e
}

func within(r, outer source.Range) bool {
	return r.File == outer.File && r.Start.Offset >= outer.Start.Offset && r.End.Offset <= outer.End.Offset
}

// runtime returns the prefix under which a declared name is looked up.
func (e *Env) runtime(name string) string {
	for ; e != nil; e = e.parent {
		if _, ok := e.names[name]; ok {
			return e.own
		}
	}
	return ""
}
