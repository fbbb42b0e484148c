package migration

import (
	"regexp"
	"strings"

	"arbor/internal/account"
)

// texts rewrites links and mentions in imported texts, so that they lead to this server: links to the source
// repository and its attachments, and mentions of people. #12 stays, because issues keep their numbers. Code is not
// changed.
type texts struct {
	source      string            // the address of the repository there; empty: unknown
	name        string            // OWNER/NAME there
	to          string            // OWNER/NAME here
	attachments map[string]string // keys there and here
	person      func(login string) (text string, ok bool)

	links *regexp.Regexp // nil: none
}

var mentions = regexp.MustCompile(`(^|[^0-9A-Za-z_@/.` + "`" + `&\[])@([0-9A-Za-z](?:[0-9A-Za-z._-]*[0-9A-Za-z_])?)`)

func newTexts(source, name, to string, person func(string) (string, bool)) *texts {
	t := &texts{source: strings.TrimSuffix(source, "/"), name: name, to: to, attachments: map[string]string{},
		person: person}
	if strings.Contains(t.source, "://") {
		t.links = regexp.MustCompile(`(\]\(|\]: ?|="|<)?` + regexp.QuoteMeta(t.source) +
			`((?:/[^\s()<>\[\]"'` + "`" + `]*)?)((?:\.?[0-9A-Za-z_-]+)?)(>?)`)
	}
	return t
}

// rewrite returns the text as it is to be here.
func (t *texts) rewrite(text string) string {
	if !strings.Contains(text, "@") && !strings.Contains(text, "/"+t.name+"/") && (t.links == nil || !strings.Contains(text, t.source)) {
		return text
	}
	return OutsideCode(text, func(part string) string {
		if t.links != nil {
			part = t.links.ReplaceAllStringFunc(part, t.link)
		}
		if strings.Contains(part, "/"+t.name+"/attachments/") {
			part = attachmentPath(t.name).ReplaceAllStringFunc(part, t.attachment)
		}
		return mentions.ReplaceAllStringFunc(part, func(found string) string {
			before, login, _ := strings.Cut(found, "@")
			if as, ok := t.person(login); ok {
				return before + as
			}
			return found
		})
	})
}

func (t *texts) optional(text *string) *string {
	if text == nil {
		return nil
	}
	out := t.rewrite(*text)
	return &out
}

var pageOfIssue = regexp.MustCompile(`^/(?:issues|pull|pulls)/([1-9][0-9]{0,17})$`)

// link rewrites an address in the source repository. In a Markdown link or an HTML attribute, it becomes a path,
// which works under every name of this server. Elsewhere, the address of an issue becomes #12, and any other one a
// link. A fragment is dropped unless it is a line of a file, because fragments differ here.
func (t *texts) link(found string) string {
	m := t.links.FindStringSubmatch(found)
	before, rest, after := m[1], m[2], m[4]
	if m[3] != "" {
		return found // another repository, whose name begins like this one's
	}
	end := strings.TrimRight(rest, ".,:;!?*_")
	punctuation := rest[len(end):]
	path, fragment, _ := strings.Cut(end, "#")
	if strings.HasPrefix(fragment, "L") { // lines of a file
		path += "#" + fragment
	}
	switch {
	case before == "<" && after == ">":
		before, after = "", ""
	case before != "" && before != "<":
		return before + "/" + t.to + path + punctuation + after
	}
	if n := pageOfIssue.FindStringSubmatch(path); n != nil {
		return before + "#" + n[1] + punctuation + after
	}
	return before + "[" + t.to + path + "](/" + t.to + path + ")" + punctuation + after
}

func attachmentPath(name string) *regexp.Regexp {
	return regexp.MustCompile(`/` + regexp.QuoteMeta(name) + `/attachments/([0-9a-z]{26})`)
}

func (t *texts) attachment(found string) string {
	key := found[len(found)-26:]
	if here, ok := t.attachments[key]; ok {
		return "/" + t.to + "/attachments/" + here
	}
	return found
}

// nameIn returns the replacement for a mention of a person of the source: the login here, or the name of a person
// without an account here, because the login may belong to somebody else.
func (p *people) nameIn(login string) (string, bool) {
	there := account.Fold(login)
	if here := p.logins[there]; here != "" {
		return "@" + here, here != login
	}
	if p.records[there] == nil {
		return "", false
	}
	o := p.origin(login)
	return o.Login + " at " + o.Host, true
}

// OutsideCode calls fn for the parts of a Markdown text that are not code, and joins what it returns with the rest.
func OutsideCode(text string, fn func(part string) string) string {
	var out, plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			out.WriteString(spans(plain.String(), fn))
			plain.Reset()
		}
	}
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " >")
		mark := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		if mark == "" {
			mark = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "~"))]
		}
		switch {
		case fence == "" && len(mark) >= 3 && !strings.Contains(trimmed[len(mark):], "`"):
			flush()
			fence = mark
			out.WriteString(line)
		case fence != "":
			out.WriteString(line)
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(trimmed[len(mark):]) == "" {
				fence = ""
			}
		default:
			plain.WriteString(line)
		}
	}
	flush()
	return out.String()
}

// spans is OutsideCode for a text without blocks of code.
func spans(text string, fn func(string) string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(text, '`')
		if at < 0 {
			out.WriteString(fn(text))
			return out.String()
		}
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		mark, rest := text[at:at+run], text[at+run:]
		end := closing(rest, mark)
		if end < 0 {
			out.WriteString(fn(text[:at+run]))
			text = rest
			continue
		}
		out.WriteString(fn(text[:at]))
		out.WriteString(text[at : at+run+end+run])
		text = rest[end+run:]
	}
}

// closing returns where a run of backticks of just that length begins; -1: nowhere.
func closing(text, mark string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], mark)
		if at < 0 {
			return -1
		}
		at += from
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if run == len(mark) {
			return at
		}
		from = at + run
	}
}
