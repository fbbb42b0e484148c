// Package markdown turns what people write into HTML that is safe to show, and
// into plain text (decision 29: body_html, body_text).
//
// A body passes four stations, each in a file of its own, and every one of
// them is linear in the length of the source:
//
//	engine.go   goldmark parses GitHub-flavoured Markdown, with bounds on what it
//	            repeats (table cells, reference links, delimiters, nesting); alert.go, code.go,
//	            emoji.go, footnote.go and math.go are what it does not do by itself
//	policy.go   bluemonday keeps the allowed elements and attributes, no others
//	balance.go  tags are closed and nested as HTML demands, so that a browser's
//	            tree is the one that was checked here
//	scan.go     @logins, #numbers and commits are found in text outside code and links
//
// Links to people, issues and commits are added last, to HTML that has no
// classes of theirs left in it, and only where the caller's [Links] say that the
// target exists and the reader may see it. A body cannot forge one.
//
// A text that would take much more room or work than its length suggests is shown as
// it is, in <pre>: one with more lines than maxLines, or whose HTML would be larger
// than maxHTML. [Cache] keeps documents, so that a text that is shown often is
// parsed once.
//
// [Images] gives the images of the result other addresses.
//
// [Parse] needs no database; a page of bodies is parsed, then all its
// [Document.References] are looked up together, then each is written by
// [Document.HTML]. Of Arbor the package imports only tools.
//
// A page parses its texts a megabyte at a time, and each becomes HTML when its turn comes. Cache
// keeps what was parsed under the hash of the text; for readers only links are added.
package markdown

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// The bounds of a document. What exceeds them stays text.
const (
	MaxSource     = 256 << 10 // bytes that are read: 65,536 code points of four bytes (decision 19)
	MaxReferences = 100       // distinct logins, issues, commits and closed issues, each
	MaxLinks      = 1000      // places in one document that may become such a link

	maxLines = 5000 // of a source: each line costs memory, and people write longer ones
)

// maxHTML is how many bytes the HTML of a source of that many bytes may have, before
// links are written and again after.
func maxHTML(source int) int { return 64<<10 + 4*source + colourMarkup + source }

// Document is a parsed body. It never changes and may be used by many at once.
type Document struct {
	html  string // safe and balanced, without links to people, issues and commits
	spans []span // where such links may stand in html, in order
	refs  References
	text  func() string
}

// References is what a text names outside code and links, each entry once and
// in order of appearance, names folded to lower case. No list is longer than
// [MaxReferences].
type References struct {
	Logins  []string    // of @login
	Teams   []TeamRef   // of @organization/team, which are never links
	Issues  []IssueRef  // of #7, GH-7 and owner/repo#7
	Commits []CommitRef // of 7 to 40 hexadecimal digits, alone or after owner/repo@
	Closes  []IssueRef  // those of Issues that "fixes", "closes" or "resolves" stands before
}

// TeamRef names a team.
type TeamRef struct{ Org, Slug string }

// IssueRef names an issue or a pull request. Owner and Repo are empty for the
// repository in which the text stands.
type IssueRef struct {
	Owner, Repo string
	Number      int64
}

// maxFixes is how many issues of one text count as fixed by it.
const maxFixes = 50

// Fixes are the numbers of the issues of the repository OWNER/NAME that a text in it says it closes, each once.
func (r References) Fixes(owner, name string) (list []int64) {
	for _, ref := range r.Closes {
		here := ref.Owner == "" || strings.EqualFold(ref.Owner, owner) && strings.EqualFold(ref.Repo, name)
		if here && len(list) < maxFixes && !slices.Contains(list, ref.Number) {
			list = append(list, ref.Number)
		}
	}
	return list
}

// CommitRef names a commit by its SHA or a beginning of it. Owner and Repo are
// empty for the repository in which the text stands.
type CommitRef struct {
	Owner, Repo, SHA string
}

// Links decides which references become links. Each function is called at most
// once for each entry of [References], with its text; ok is false for
// what does not exist or the reader may not see (decision 13). A nil function
// links nothing.
type Links struct {
	Login  func(login string) (url string, ok bool)
	Issue  func(owner, repo string, number int64) (url, title string, ok bool)
	Commit func(owner, repo, sha string) (url string, ok bool)
}

// Parse reads a source of any kind: bytes that are no UTF-8 and control
// characters are replaced, and what exceeds [MaxSource] is cut off. It never
// fails; the work is bounded by the length, for any text.
func Parse(source string) *Document {
	source = clean(source)
	if strings.TrimSpace(source) == "" {
		return &Document{}
	}
	b := balancer{ids: map[string]bool{}, dropped: map[string]int{}}
	b.run(safe(source))
	if len(b.out) > maxHTML(len(source)) { // by the prefixes of its ids
		b = balancer{ids: map[string]bool{}, dropped: map[string]int{}}
		b.run(preformatted(source))
	}
	d := &Document{html: strings.TrimSpace(string(b.out)), spans: b.found.spans, refs: b.found.refs}
	d.text = sync.OnceValue(d.plain)
	return d
}

// Sanitize returns HTML of others, such as the output of a program, as safe and balanced as that of a document.
func Sanitize(unsafe string) string {
	b := balancer{ids: map[string]bool{}, dropped: map[string]int{}}
	b.run(sanitize(clean(unsafe)))
	return strings.TrimSpace(string(b.out))
}

// safe renders a source as HTML without anything that the policy forbids. A source that
// would take much more room or work than its length suggests is shown as it is.
func safe(source string) string {
	if strings.Count(source, "\n") > maxLines {
		return preformatted(source)
	}
	rendered := render(source)
	if len(rendered) > maxHTML(len(source)) {
		return preformatted(source)
	}
	return sanitize(rendered)
}

func preformatted(source string) string { return "<pre>" + html.EscapeString(source) + "</pre>" }

// References returns what the text names, for the caller to look up.
func (d *Document) References() References {
	return References{
		Logins:  slices.Clone(d.refs.Logins),
		Teams:   slices.Clone(d.refs.Teams),
		Issues:  slices.Clone(d.refs.Issues),
		Commits: slices.Clone(d.refs.Commits),
		Closes:  slices.Clone(d.refs.Closes),
	}
}

// HTML returns the body as sanitized, balanced HTML (decision 29), without a
// newline at its end; an empty body results in an empty string.
func (d *Document) HTML(l Links) string {
	if len(d.spans) == 0 {
		return d.html
	}
	targets := resolve(d.refs, l)
	most := maxHTML(len(d.html))
	var out strings.Builder
	done := 0
	for _, s := range d.spans {
		target := targets[s.kind][s.index]
		if !target.ok {
			continue
		}
		if out.Len() > most {
			break
		}
		out.WriteString(d.html[done:s.start])
		target.write(&out, s.kind, d.html[s.start:s.end])
		done = s.end
	}
	out.WriteString(d.html[done:])
	return out.String()
}

// target is what [Links] said of one reference.
type target struct {
	url, title string
	ok         bool
}

// resolve asks once for each reference.
func resolve(refs References, l Links) [kinds][]target {
	var all [kinds][]target
	all[mention] = make([]target, len(refs.Logins))
	all[issue] = make([]target, len(refs.Issues))
	all[commit] = make([]target, len(refs.Commits))
	for i, login := range refs.Logins {
		if t := &all[mention][i]; l.Login != nil {
			t.url, t.ok = l.Login(login)
		}
	}
	for i, r := range refs.Issues {
		if t := &all[issue][i]; l.Issue != nil {
			t.url, t.title, t.ok = l.Issue(r.Owner, r.Repo, r.Number)
		}
	}
	for i, r := range refs.Commits {
		if t := &all[commit][i]; l.Commit != nil {
			t.url, t.ok = l.Commit(r.Owner, r.Repo, r.SHA)
		}
	}
	return all
}

// write appends the link around text, with the class names that GitHub uses.
func (t target) write(out *strings.Builder, k kind, text string) {
	out.WriteString(`<a class="`)
	out.WriteString([kinds]string{"user-mention", "issue-link", "commit-link"}[k])
	out.WriteString(`" href="`)
	out.WriteString(html.EscapeString(t.url))
	if t.title != "" {
		out.WriteString(`" title="`)
		out.WriteString(html.EscapeString(t.title))
	}
	out.WriteString(`">`)
	if k == commit {
		name, sha := "", text
		if at := strings.LastIndexByte(text, '@'); at >= 0 {
			name, sha = text[:at+1], text[at+1:]
		}
		text = name + "<tt>" + sha[:minSHA] + "</tt>"
	}
	out.WriteString(text)
	out.WriteString("</a>")
}

// clean converts the source to UTF-8 with newlines only, without control characters
// and no longer than MaxSource.
func clean(source string) string {
	if len(source) > MaxSource {
		end := MaxSource
		for end > 0 && !utf8.RuneStart(source[end]) {
			end--
		}
		source = source[:end]
	}
	source = strings.ToValidUTF8(source, "\uFFFD")
	if strings.IndexFunc(source, isControl) < 0 {
		return source
	}
	source = strings.ReplaceAll(source, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case isControl(r):
			return '\uFFFD'
		}
		return r
	}, source)
}

func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r <= 0x9f
}
