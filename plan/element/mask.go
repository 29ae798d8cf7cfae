package element

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"sort"
	"strings"
	"sync"
)

const mask = "***"

// Masker hides secrets in texts: as they are, URL-encoded, base64 and
// JSON-escaped. A secret of fewer than four characters hides only texts that
// equal it. Safe for concurrent use; nil masks nothing.
type Masker struct {
	mu       sync.RWMutex
	short    map[string]bool
	forms    map[string]bool
	replacer *strings.Replacer
}

// Add makes the masker hide secret from now on.
func (m *Masker) Add(secret string) {
	if m == nil || secret == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len([]rune(secret)) < 4 {
		if m.short == nil {
			m.short = map[string]bool{}
		}
		m.short[secret] = true
		return
	}
	if m.forms[secret] {
		return
	}
	if m.forms == nil {
		m.forms = map[string]bool{}
	}
	for _, form := range forms(secret) {
		m.forms[form] = true
	}
	all := make([]string, 0, len(m.forms))
	for form := range m.forms {
		all = append(all, form)
	}
	sort.Slice(all, func(i, j int) bool { return len(all[i]) > len(all[j]) || len(all[i]) == len(all[j]) && all[i] < all[j] })
	pairs := make([]string, 0, 2*len(all))
	for _, form := range all {
		pairs = append(pairs, form, mask)
	}
	m.replacer = strings.NewReplacer(pairs...)
}

// Mask returns text without secrets.
func (m *Masker) Mask(text string) string {
	if m == nil {
		return text
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.short[text] {
		return mask
	}
	if m.replacer == nil {
		return text
	}
	return m.replacer.Replace(text)
}

func forms(secret string) []string {
	quoted, _ := json.Marshal(secret) // a string always marshals
	std := base64.StdEncoding.EncodeToString([]byte(secret))
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`),
		std, strings.TrimRight(std, "="), base64.URLEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
}
