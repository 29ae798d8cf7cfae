package http

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"runner/samplers/http/h1"
)

func isHTML(res *h1.Response) bool {
	kind, _ := res.Get("Content-Type")
	kind, _, _ = bytes.Cut(kind, []byte(";"))
	switch strings.ToLower(string(bytes.TrimSpace(kind))) {
	case "text/html", "application/xhtml+xml":
		return true
	}
	return false
}

// maxTag bounds one tag of a page, attributes included.
const maxTag = 1 << 20

// embedded returns the URLs that a browser would fetch with the page, in its
// order: images, scripts, style sheets, icons, frames, embedded objects and
// backgrounds. What style sheets name, scripts load and frames embed is not
// among them.
func embedded(page h1.URL, body []byte) []h1.URL {
	var found []h1.URL
	base := page
	z := html.NewTokenizer(bytes.NewReader(body))
	z.SetMaxBuf(maxTag)
	for {
		switch z.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := atom.Lookup(name)
			if !embeds(tag) {
				continue
			}
			attrs := map[string]string{}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				if _, dup := attrs[string(key)]; !dup && len(attrs) < 100 {
					attrs[string(key)] = string(value)
				}
			}
			if tag == atom.Base {
				if u, err := h1.Resolve(page, trim(attrs["href"])); err == nil && attrs["href"] != "" {
					base = u
				}
				continue
			}
			for _, ref := range references(tag, attrs) {
				if u, err := h1.Resolve(base, ref); err == nil {
					found = append(found, u)
				}
			}
		}
	}
}

func embeds(tag atom.Atom) bool {
	switch tag {
	case atom.Base, atom.Img, atom.Script, atom.Link, atom.Input, atom.Iframe, atom.Frame, atom.Embed, atom.Object, atom.Body,
		atom.Table, atom.Td, atom.Th, atom.Tr, atom.Bgsound:
		return true
	}
	return false
}

// references returns what a tag makes a browser fetch.
func references(tag atom.Atom, attrs map[string]string) []string {
	var key string
	switch tag {
	case atom.Img, atom.Script, atom.Iframe, atom.Frame, atom.Embed, atom.Bgsound:
		key = "src"
	case atom.Input:
		if strings.EqualFold(trim(attrs["type"]), "image") {
			key = "src"
		}
	case atom.Object:
		key = "data"
	case atom.Link:
		for _, rel := range strings.Fields(strings.ToLower(attrs["rel"])) {
			if rel == "stylesheet" || rel == "icon" {
				key = "href"
			}
		}
	default:
		key = "background"
	}
	ref := trim(attrs[key])
	if key == "" || ref == "" || ref[0] == '#' {
		return nil
	}
	return []string{ref}
}

// trim removes blanks around and line ends within, as browsers do with URLs.
func trim(ref string) string {
	return strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(strings.Trim(ref, " \t\r\n\f"))
}
