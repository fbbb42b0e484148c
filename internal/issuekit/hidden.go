package issuekit

import "slices"

// Hidden is why a comment is hidden, as stored; 0: it is shown.
type Hidden uint8

var hiddenWords = [...]string{"", "abuse", "duplicate", "off-topic", "outdated", "resolved", "spam"}

// String returns the word that pages and GitHub's GraphQL show, such as off-topic; "" for a comment that is shown.
func (h Hidden) String() string { return hiddenWords[h] }

// ParseHidden parses the result of String.
func ParseHidden(word string) (h Hidden, ok bool) {
	n := slices.Index(hiddenWords[:], word)
	return Hidden(max(0, n)), n > 0
}

// HiddenWords are the reasons for which a comment can be hidden.
func HiddenWords() []string { return slices.Clone(hiddenWords[1:]) }
