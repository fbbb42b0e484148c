package object

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"arbor/internal/errs"
)

// Tag is an annotated tag.
type Tag struct {
	SHA     SHA
	Object  SHA  // what it names
	Type    Type // of that
	Name    string
	Tagger  *Signature // nil in some tags of old histories
	Message string     // as it stands, without the signature
	Signed  string     // the armoured signature at its end; empty without one
	Payload string     // what that is a signature of: the bytes of the object before it, perhaps no UTF-8
}

// Encode returns the commit as git stores it, and sets the Payload of a signed
// one, and Signed if Sign does it. SHA and Encoding are not looked at: texts are UTF-8. Error: Invalid for what
// `git fsck` would not let pass.
func (c *Commit) Encode() (NewObject, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	for _, p := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	if err := c.Author.Check(); err != nil {
		return NewObject{}, fmt.Errorf("author: %w", err)
	}
	if err := c.Committer.Check(); err != nil {
		return NewObject{}, fmt.Errorf("committer: %w", err)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n", c.Author, c.Committer)
	if c.Sign != nil && c.Signed == "" {
		var err error
		if c.Signed, err = c.Sign([]byte(b.String() + "\n" + c.Message)); err != nil {
			return NewObject{}, err
		}
	}
	if c.Signed != "" {
		c.Payload = b.String() + "\n" + c.Message
		signed := strings.TrimRight(c.Signed, "\n")
		fmt.Fprintf(&b, "gpgsig %s\n", strings.ReplaceAll(signed, "\n", "\n "))
	}
	b.WriteString("\n" + c.Message)
	return NewObject{Type: TypeCommit, Data: b.Bytes()}, checkEncoded(b.Bytes())
}

// Encode returns the tag as git stores it, the message ended by a newline. SHA is
// not looked at. Error: Invalid for what `git fsck` would not let pass.
func (t *Tag) Encode() (NewObject, error) {
	if err := CheckRefName("refs/tags/" + t.Name); err != nil {
		return NewObject{}, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "object %s\ntype %s\ntag %s\n", t.Object, t.Type, t.Name)
	if t.Tagger != nil {
		if err := t.Tagger.Check(); err != nil {
			return NewObject{}, fmt.Errorf("tagger: %w", err)
		}
		fmt.Fprintf(&b, "tagger %s\n", *t.Tagger)
	}
	b.WriteString("\n" + t.Message)
	if !strings.HasSuffix(t.Message, "\n") {
		b.WriteByte('\n')
	}
	if t.Signed != "" {
		b.WriteString(strings.TrimRight(t.Signed, "\n") + "\n")
	}
	return NewObject{Type: TypeTag, Data: b.Bytes()}, checkEncoded(b.Bytes())
}

// checkEncoded refuses what no reader of ours would take.
func checkEncoded(b []byte) error {
	if bytes.IndexByte(b, 0) >= 0 {
		return errs.New(errs.Invalid, "the message or signature contains NUL")
	}
	if len(b) > MaxNewCommitBytes {
		return errs.Newf(errs.Invalid, "the message is too long (maximum is %d bytes)", MaxNewCommitBytes)
	}
	return nil
}

// String is the signature as written in a commit: NAME <EMAIL> SECONDS ZONE.
func (s Signature) String() string {
	return fmt.Sprintf("%s <%s> %d %s", s.Name, s.Email, s.When.Unix(), s.When.Format("-0700"))
}

// Check refuses a signature that would not come back as it is, or that `git
// fsck` would not let pass. Error: Invalid.
func (s Signature) Check() error {
	for _, part := range [...][2]string{{"name", s.Name}, {"email", s.Email}} {
		name, value := part[0], part[1]
		switch {
		case value == "" || strings.TrimSpace(value) != value:
			return errs.Newf(errs.Invalid, "%s must not be empty, nor begin or end with a space", name)
		case strings.ContainsAny(value, "<>"):
			return errs.Newf(errs.Invalid, `%s must not contain "<" or ">"`, name)
		case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }):
			return errs.Newf(errs.Invalid, "%s must be one line of text", name)
		}
	}
	_, offset := s.When.Zone()
	if seconds := s.When.Unix(); seconds < 0 || seconds > maxSeconds || offset <= -24*3600 ||
		offset >= 24*3600 {
		return errs.New(errs.Invalid, "date is out of range")
	}
	return nil
}

// ParseTag parses a tag object, as leniently as ParseCommit.
func ParseTag(contents []byte) (*Tag, error) {
	header, message, _ := strings.Cut(string(contents), "\n\n")
	t := &Tag{}
	for line := range strings.SplitSeq(header, "\n") {
		key, value, _ := strings.Cut(line, " ")
		var err error
		switch key {
		case "object":
			t.Object, err = ParseSHA(value)
		case "type":
			t.Type, err = ParseType(value)
		case "tag":
			t.Name = ToUTF8(value, "")
		case "tagger":
			s := parseSignature(ToUTF8(value, ""))
			t.Tagger = &s
		}
		if err != nil {
			return nil, fmt.Errorf("bad %s line", key)
		}
	}
	if t.Object == "" || t.Type == "" {
		return nil, fmt.Errorf("no object or type line")
	}
	for _, kind := range [...]string{"PGP SIGNATURE", "PGP MESSAGE", "SSH SIGNATURE", "SIGNED MESSAGE"} {
		begin := "-----BEGIN " + kind + "-----"
		if i := strings.Index("\n"+message, "\n"+begin); i >= 0 {
			message, t.Signed = message[:i], message[i:]
			t.Payload = header + "\n\n" + message
		}
	}
	t.Message = ToUTF8(message, "")
	return t, nil
}

// ParseDate reads a date of a request: ISO 8601 as GitHub takes it, its offset
// kept, parts of seconds dropped. Error: Invalid.
func ParseDate(s string) (time.Time, error) {
	for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00",
		time.DateOnly} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		_, offset := t.Zone()
		t = t.Truncate(time.Second).In(time.FixedZone("", offset))
		if t.Unix() < 0 || t.Unix() > maxSeconds {
			return time.Time{}, errs.Newf(errs.Invalid, "%q is out of range", errs.Clip(s))
		}
		return t, nil
	}
	return time.Time{}, errs.Newf(errs.Invalid, "%q is not an ISO 8601 timestamp", errs.Clip(s))
}
