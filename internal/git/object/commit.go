package object

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// MaxCommitBytes is the size of the largest commit or tag that is read; new ones
// are at most MaxNewCommitBytes.
const MaxCommitBytes = 4 << 20

// Signature is who did something, and when, in their time zone.
type Signature struct {
	Name  string
	Email string
	When  time.Time
}

// Commit is a commit. Its texts are in UTF-8, converted from the commit's encoding.
type Commit struct {
	SHA       SHA
	Tree      SHA
	Parents   []SHA
	Author    Signature
	Committer Signature
	Encoding  string // the header's value; empty for UTF-8
	Signed    string // the armoured signature of "gpgsig"; empty without one
	Payload   string // what that is a signature of: the bytes of the object without it, perhaps no UTF-8
	Message   string // as it stands, final newline included
	// Sign returns the signature of a payload. With it, Encode signs a new commit without one.
	Sign func(payload []byte) (string, error)
}

// ParseCommit parses a commit object. It is lenient where old histories are
// odd (signatures without name, date or zone), strict on what links objects.
func ParseCommit(contents []byte) (*Commit, error) {
	header, message, _ := bytes.Cut(contents, []byte("\n\n"))
	if bytes.HasPrefix(contents, []byte("\n")) {
		header, message = nil, contents[1:]
	}
	c := &Commit{}
	var author, committer string
	lines := strings.Split(string(header), "\n")
	for i := 0; i < len(lines); i++ {
		first := i
		key, value, _ := strings.Cut(lines[i], " ")
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], " ") {
			i++
			value += "\n" + lines[i][1:]
		}
		switch key {
		case "tree", "parent":
			sha, err := ParseSHA(value)
			if err != nil {
				return nil, fmt.Errorf("bad %s line", key)
			}
			if key == "parent" {
				c.Parents = append(c.Parents, sha)
			} else if c.Tree == "" {
				c.Tree = sha
			}
		case "author":
			author = value
		case "committer":
			committer = value
		case "encoding":
			c.Encoding = value
		case "gpgsig":
			c.Signed = value
			c.Payload = unsigned(lines, first, i, message)
		}
	}
	if c.Tree == "" {
		return nil, fmt.Errorf("no tree line")
	}
	c.Author = parseSignature(ToUTF8(author, c.Encoding))
	c.Committer = parseSignature(ToUTF8(committer, c.Encoding))
	c.Message = ToUTF8(string(message), c.Encoding)
	return c, nil
}

// unsigned is a commit without the lines of its header that hold a signature. Its bytes are those that were signed.
func unsigned(header []string, first, last int, message []byte) string {
	rest := slices.Concat(header[:first], header[last+1:])
	return strings.Join(rest, "\n") + "\n\n" + string(message)
}

// ToUTF8 turns text in the named encoding into UTF-8. Text that is valid UTF-8
// without a known encoding stays; stray bytes become U+FFFD.
func ToUTF8(s, encoding string) string {
	if encoding != "" && !isUTF8Name(encoding) {
		if e, err := htmlindex.Get(encoding); err == nil {
			if out, err := e.NewDecoder().String(s); err == nil {
				return out
			}
		}
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func isUTF8Name(encoding string) bool {
	return strings.EqualFold(encoding, "utf-8") || strings.EqualFold(encoding, "utf8")
}

// parseSignature parses "NAME <EMAIL> SECONDS ZONE". Parts may be missing.
// The address ends at the last ">", as names and addresses may hold one.
func parseSignature(s string) Signature {
	open, end := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if open < 0 || end < open {
		return Signature{Name: strings.TrimSpace(s), When: time.Unix(0, 0).UTC()}
	}
	sig := Signature{Name: strings.TrimSpace(s[:open]), Email: strings.TrimSpace(s[open+1 : end])}
	fields := strings.Fields(s[end+1:])
	var seconds int64
	zone := time.UTC
	if len(fields) > 0 {
		seconds, _ = strconv.ParseInt(fields[0], 10, 64)
	}
	if len(fields) > 1 {
		zone = parseZone(fields[1])
	}
	if seconds < 0 || seconds > maxSeconds {
		seconds = 0
	}
	sig.When = time.Unix(seconds, 0).In(zone)
	return sig
}

// maxSeconds is the end of the year 9999, the last that JSON's times can name.
const maxSeconds = 253402300799 - 24*3600

// parseZone parses "+0530"; what makes no sense is UTC.
func parseZone(s string) *time.Location {
	if len(s) != 5 || s[0] != '+' && s[0] != '-' {
		return time.UTC
	}
	n, err := strconv.Atoi(s[1:])
	if err != nil || n < 0 || n/100 > 23 || n%100 > 59 || n == 0 {
		return time.UTC
	}
	offset := (n/100*60 + n%100) * 60
	if s[0] == '-' {
		offset = -offset
	}
	return time.FixedZone("", offset)
}
