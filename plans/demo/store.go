package demo

import (
	"container/list"
	"sync"
	"time"
)

// store is a map that forgets: it holds at most limit entries, drops the least
// recently used first, and treats an entry unused for ttl as gone. Safe for
// concurrent use.
type store[V any] struct {
	mu    sync.Mutex
	limit int
	ttl   time.Duration
	now   func() time.Time
	items map[string]*list.Element
	order *list.List // most recently used first
}

type entry[V any] struct {
	key   string
	used  time.Time
	value V
}

func newStore[V any](limit int, ttl time.Duration, now func() time.Time) *store[V] {
	return &store[V]{limit: limit, ttl: ttl, now: now, items: map[string]*list.Element{}, order: list.New()}
}

// update runs f on the entry of key, made empty if it is missing. f runs under
// the store's lock and must not call the store.
func (s *store[V]) update(key string, f func(*V)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.expire(now)
	el := s.items[key]
	if el == nil {
		el = s.order.PushFront(&entry[V]{key: key})
		s.items[key] = el
	}
	e := el.Value.(*entry[V])
	e.used = now
	s.order.MoveToFront(el)
	f(&e.value)
	if s.order.Len() > s.limit {
		s.drop(s.order.Back())
	}
}

// view runs f on the entry of key and reports whether there is one. f runs
// under the store's lock and must not call the store.
func (s *store[V]) view(key string, f func(*V)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.expire(now)
	el := s.items[key]
	if el == nil {
		return false
	}
	e := el.Value.(*entry[V])
	e.used = now
	s.order.MoveToFront(el)
	f(&e.value)
	return true
}

func (s *store[V]) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.order.Len()
}

// expire drops what is too old; entries are in order of use, so it stops at
// the first that is not.
func (s *store[V]) expire(now time.Time) {
	for el := s.order.Back(); el != nil; el = s.order.Back() {
		if now.Sub(el.Value.(*entry[V]).used) <= s.ttl {
			return
		}
		s.drop(el)
	}
}

func (s *store[V]) drop(el *list.Element) {
	delete(s.items, el.Value.(*entry[V]).key)
	s.order.Remove(el)
}
