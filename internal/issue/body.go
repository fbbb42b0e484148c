package issue

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"arbor/internal/errs"
	"arbor/internal/markdown"
)

// Text is a body, parsed before the transaction.
type Text struct {
	Body   *string // nil: empty
	Before string  // the Guard of the text to be replaced; empty: not checked
	refs   markdown.References
}

// NewText parses a body. An empty one is stored as null (decision 19). One that is too long is not parsed, since
// operations refuse it.
func NewText(body string) Text {
	switch {
	case body == "":
		return Text{}
	case len(body) > MaxBody && utf8.RuneCountInString(body) > MaxBody:
		return Text{Body: &body}
	}
	return Text{Body: &body, refs: markdown.Parse(body).References()}
}

// Logins returns whom the text mentions.
func (t Text) Logins() []string { return t.refs.Logins }

// Guard returns a hash of a text, 18 hexadecimal digits. Nil is an empty text.
func Guard(text *string) string {
	sum := sha256.Sum256([]byte(textOf(text)))
	return hex.EncodeToString(sum[:9])
}

// Check returns 409 if now is not the text that t was written to replace.
func (t *Text) Check(now *string) error {
	if t.Before != "" && t.Before != Guard(now) {
		return errs.New(errs.Conflict, "The text has changed.")
	}
	return nil
}
