// Package query selects values from a response: by JSONPath, JMESPath,
// XPath, CSS selector, regular expression, header, cookie or the texts around it. Assertions,
// extractors and the response functions of expressions share it.
//
// A selector is compiled once and used by any number of threads. Responses are
// hostile: every selector bounds how deep it goes, how much it reads and how many
// matches it returns, and no result points into the response's buffers.
package query

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// The limits of selectors and of what they read.
const (
	MaxSelector = 4 << 10 // bytes of a path, pattern or CSS selector
	MaxMatches  = 10_000  // matches returned by one selection
	MaxHTML     = 4 << 20 // bytes of a document that CSS selectors read
	MaxNodes    = 500_000 // nodes that such a document may become
	MaxDepth    = 256     // levels of a JSON document that non-singular paths read
)

const maxCached = 256 // compiled selectors kept by one Cache

// Cache keeps compiled selectors by their text. The text is nearly always the
// same, and that case takes no lock. The zero Cache is ready; safe for
// concurrent use.
type Cache[T any] struct {
	last atomic.Pointer[entry[T]]
	mu   sync.Mutex
	all  map[string]*entry[T]
}

type entry[T any] struct {
	text  string
	value T
}

// Get returns the compiled form of text, compiling it where it is new. Errors
// are not kept.
func (c *Cache[T]) Get(text string, compile func(string) (T, error)) (T, error) {
	if e := c.last.Load(); e != nil && e.text == text {
		return e.value, nil
	}
	c.mu.Lock()
	e := c.all[text]
	c.mu.Unlock()
	if e == nil {
		value, err := compile(text)
		if err != nil {
			return value, err
		}
		e = &entry[T]{text, value}
		c.keep(e)
	}
	c.last.Store(e)
	return e.value, nil
}

func (c *Cache[T]) keep(e *entry[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= maxCached {
		clear(c.all)
	}
	if c.all == nil {
		c.all = map[string]*entry[T]{}
	}
	c.all[e.text] = e
}

func checkLength(what, text string) error {
	if len(text) > MaxSelector {
		return fmt.Errorf("the %s is %d bytes long; at most %d are allowed", what, len(text), MaxSelector)
	}
	return nil
}
