package fulltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is where a longer word is cut, in code points, in texts and in what
// is looked for alike: nobody types more, and bytes in base 64 would fill the
// index.
const maxWord = 64

// Spaced returns the words of a text with a space around each, so that it holds the words of a phrase
// where they are consecutive in the text.
func Spaced(text string) string { return " " + joinWords(text) }

// splitter cuts text into words, so that both engines index and find the same
// ones: runs of letters and digits, in lower case, without the accents of
// Latin, Greek and Cyrillic letters, compatible forms made one. A letter of a
// script that is written without spaces is a word by itself, and so is a
// symbol such as an emoji. Everything else parts words.
type splitter struct {
	yield func(word string)
	run   []byte // the word being read
	n     int    // its code points
	alone bool   // it takes marks only
}

// words calls yield with each word of text, in order.
func words(text string, yield func(word string)) {
	s := splitter{yield: yield}
	for field := range strings.FieldsSeq(text) {
		if isASCII(field) {
			s.ascii(field)
		} else {
			for _, r := range norm.NFC.String(strings.Map(dropAccents, norm.NFKD.String(field))) {
				s.take(r)
			}
		}
		s.end()
	}
}

// ascii is take for each byte of a field.
func (s *splitter) ascii(field string) {
	for i := range len(field) {
		switch c := field[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			s.add(rune(c))
		case 'A' <= c && c <= 'Z':
			s.add(rune(c + 'a' - 'A'))
		default:
			s.end()
		}
	}
}

func (s *splitter) take(r rune) {
	switch {
	case unicode.IsLetter(r), unicode.IsNumber(r):
		single := unicode.In(r, spaceless...)
		if single || s.alone {
			s.end()
		}
		s.add(unicode.ToLower(unicode.ToUpper(r))) // both sigmas are one
		s.alone = single
	case unicode.IsMark(r):
		if s.n > 0 {
			s.add(r)
		}
	case unicode.Is(unicode.So, r):
		s.end()
		s.add(r)
		s.alone = true
	case unicode.Is(unicode.Cf, r) && r != '\u200b': // soft hyphens and joiners part nothing
	default:
		s.end()
	}
}

func (s *splitter) add(r rune) {
	if s.n < maxWord {
		s.run = utf8.AppendRune(s.run, r)
	}
	s.n++
}

func (s *splitter) end() {
	if s.n > 0 {
		s.yield(string(s.run))
	}
	s.run, s.n, s.alone = s.run[:0], 0, false
}

// spaceless are the scripts in which nothing parts words.
var spaceless = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
	unicode.Myanmar,
}

// dropAccents is for strings.Map: it drops the marks of European scripts and
// what chooses between an emoji's looks, since people leave them out.
func dropAccents(r rune) rune {
	if 0x300 <= r && r <= 0x36f || 0xfe00 <= r && r <= 0xfe0f {
		return -1
	}
	return r
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
