package element

// root resolves the names that are neither variables nor plan-wide: thread,
// group and the response roots of the current sample.
func (t *Thread) root(name string) (any, bool) {
	switch name {
	case "thread.id":
		return int64(t.ID), true
	case "thread.iteration":
		return t.Iteration, true
	case "group.name":
		return t.Group, true
	case "thread":
		return map[string]any{"id": int64(t.ID), "iteration": t.Iteration}, true
	case "group":
		return map[string]any{"name": t.Group}, true
	}
	if t.Sample == nil {
		return nil, false
	}
	return t.Sample.Value(name)
}

// Value resolves a response root: status duration latency connect size url body
// json headers cookies message ok, and the sampler's own names.
func (s *Sample) Value(name string) (any, bool) {
	switch name {
	case "status":
		return int64(s.Status), true
	case "duration":
		return int64(s.Duration()), true
	case "latency":
		return int64(s.Latency()), true
	case "connect":
		return int64(s.Phases.Connect), true
	case "size":
		return s.BodySize, true
	case "url":
		return s.FinalURL(), true
	case "message":
		return s.Message, true
	case "body":
		return string(s.Body), true
	case "ok":
		return s.Class == Passed, true
	case "headers":
		return s.headerMap(), true
	case "cookies":
		if jar, ok := s.Private.(CookieJar); ok {
			return jar.Cookies(), true
		}
		return map[string]any{}, true
	case "json":
		v, err := s.JSON()
		return v, err == nil
	}
	v, ok := s.Values[name]
	return v, ok
}

// headerMap returns the headers by lower-case name, the first of each.
func (s *Sample) headerMap() map[string]any {
	m := make(map[string]any, len(s.Headers))
	for _, h := range s.Headers {
		name := make([]byte, len(h.Name))
		for i, c := range h.Name {
			name[i] = lower(c)
		}
		if _, dup := m[string(name)]; !dup {
			m[string(name)] = string(h.Value)
		}
	}
	return m
}

// FinalURL returns the URL that gave the answer, after redirects.
func (s *Sample) FinalURL() string {
	if u, ok := s.Private.(FinalURLer); ok && s.URL == "" {
		return u.FinalURL()
	}
	return s.URL
}
