package markdown

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Autolink links words that begin with a prefix, such as TICKET-7. URL contains <num>, which stands for the rest of
// the word: letters, digits and hyphens, or digits only.
type Autolink struct {
	Prefix, URL  string
	Alphanumeric bool
}

// Autolinks are the autolinks of a repository, sorted by prefix. No prefix is the beginning of another one.
type Autolinks []Autolink

// NewAutolinks sorts a list.
func NewAutolinks(list []Autolink) Autolinks {
	slices.SortFunc(list, func(a, b Autolink) int { return strings.Compare(a.Prefix, b.Prefix) })
	return list
}

// Bounds of what autolinks add.
const (
	maxNum   = 100       // bytes of <num>
	maxAdded = 256 << 10 // bytes added to one text
)

// HTML links words in sanitized HTML, outside code and links. The work is linear in the length, and further
// words stay text once maxAdded is reached.
func (l Autolinks) HTML(source string) string {
	if len(l) == 0 {
		return source
	}
	var b strings.Builder
	inside, left := 0, maxAdded
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			raw := string(z.Raw())
			if inside > 0 {
				b.WriteString(raw)
				continue
			}
			text := html.UnescapeString(raw)
			linked, added := l.link(text, left)
			if added == 0 {
				b.WriteString(raw)
				continue
			}
			left -= added
			b.WriteString(linked)
		default:
			raw := string(z.Raw())
			name, _ := z.TagName()
			switch string(name) {
			case "a", "code", "tt", "pre", "kbd", "samp":
				if kind == html.StartTagToken {
					inside++
				} else if kind == html.EndTagToken {
					inside--
				}
			}
			b.WriteString(raw)
		}
	}
}

// Text is HTML for a text without markup.
func (l Autolinks) Text(text string) string {
	linked, added := l.link(text, maxAdded)
	if added == 0 {
		return html.EscapeString(text)
	}
	return linked
}

// link escapes a text with its links, and returns how many bytes these add, at most about left.
func (l Autolinks) link(text string, left int) (linked string, added int) {
	var b strings.Builder
	done, before := 0, ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if to, num := l.at(text[i:]); num != "" && !isWord(before) && added < left {
			end := i + len(to.Prefix) + len(num)
			url := strings.ReplaceAll(to.URL, "<num>", num)
			tag := `<a href="` + html.EscapeString(url) + `" rel="nofollow">`
			b.WriteString(html.EscapeString(text[done:i]) + tag + html.EscapeString(text[i:end]) + `</a>`)
			added += len(tag) + len(`</a>`)
			done, i, before = end, end, 'x'
			continue
		}
		before = r
		i += size
	}
	b.WriteString(html.EscapeString(text[done:]))
	return b.String(), added
}

// at returns the autolink with which a text begins, and its <num>; empty: none.
func (l Autolinks) at(text string) (to *Autolink, num string) {
	n, exact := slices.BinarySearchFunc(l, text, func(a Autolink, text string) int {
		return strings.Compare(a.Prefix, text)
	})
	if exact || n == 0 || !strings.HasPrefix(text, l[n-1].Prefix) {
		return nil, "" // the only prefix that may fit stands right before the text, since none begins with another
	}
	to = &l[n-1]
	rest := text[len(to.Prefix):]
	end := 0
	for end < len(rest) && end < maxNum && (isDigit(rest[end]) ||
		to.Alphanumeric && (isAlnum(rest[end]) || rest[end] == '-')) {
		end++
	}
	if next, size := utf8.DecodeRuneInString(rest[end:]); size > 0 && isWord(next) {
		return nil, ""
	}
	return to, strings.TrimRight(rest[:end], "-")
}
