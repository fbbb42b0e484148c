package attachment

import (
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds the name of an attachment in bytes.
const maxName = 200

// cleanName is what is kept of the name that a browser gives: the last part of a path, without characters
// that control a terminal, a header or the direction of writing. An empty result becomes
// "file".
func cleanName(given string) string {
	given = given[strings.LastIndexAny(given, `/\`)+1:]
	given = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsControl(c), unicode.Is(unicode.Bidi_Control, c), c == utf8.RuneError, c == '\u2028',
			c == '\u2029':
			return -1
		case unicode.IsSpace(c):
			return ' '
		}
		return c
	}, strings.ToValidUTF8(given, ""))
	given = strings.Trim(given, " .")
	for len(given) > maxName { // the end of a name tells programs what it is
		_, size := utf8.DecodeRuneInString(given)
		given = given[size:]
	}
	if given = strings.Trim(given, " ."); given == "" {
		return "file"
	}
	return given
}

// escape escapes a name as the text of a link in Markdown.
func escape(name string) string {
	var b strings.Builder
	for _, c := range name {
		if strings.ContainsRune("\\`*_{}[]<>()#|~!&:@", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// disposition is the header Content-Disposition of a file that is shown, or saved, under a name.
func disposition(shown bool, name string) string {
	kind := "attachment"
	if shown {
		kind = "inline"
	}
	return mime.FormatMediaType(kind, map[string]string{"filename": name})
}
