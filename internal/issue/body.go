package issue

import (
	"crypto/sha256"
	"encoding/hex"

	"arbor/internal/errs"
	"arbor/internal/markdown"
)

// Text is a body that was read before the transaction.
type Text struct {
	Body   *string // nil: none
	Before string  // what Guard gives of the text that it replaces; empty: of any
	refs   markdown.References
}

// NewText reads a body; an empty one is none (decision 19).
func NewText(body string) Text {
	if body == "" {
		return Text{}
	}
	return Text{Body: &body, refs: markdown.Parse(body).References()}
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// Guard names a text: 18 hexadecimal digits, another for any other text. Nil is an empty one.
func Guard(text *string) string {
	sum := sha256.Sum256([]byte(orEmpty(text)))
	return hex.EncodeToString(sum[:9])
}

// Check returns the 409 of a text that was written to replace another one than now.
func (t *Text) Check(now *string) error {
	if t.Before != "" && t.Before != Guard(now) {
		return errs.New(errs.Conflict, "The text has changed.")
	}
	return nil
}
