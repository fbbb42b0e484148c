package highlight

import (
	"path"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"arbor/internal/cache"
)

// Bounds of what a lexer reads: what is beyond them is shown plain.
const (
	maxText = 64 << 10 // bytes of a text
	maxLine = 2000     // bytes of a line
)

// wholesale are the lexers that read a whole text before their first token (chroma.DelegatingLexer), so that
// no clock stops them: one has been seen to take more than half a second for 16 KiB of "<". With all others
// it is looked at in time.
var wholesale = map[string]bool{
	"ERB": true, "Go HTML Template": true, "PHTML": true, "Svelte": true, "YAML+Jinja": true,
}

// Lexer reads the text of one language.
type Lexer struct{ chroma.Lexer }

// OfFile returns the lexer of a file's language; nil: the text is shown plain.
func OfFile(name, text string) *Lexer {
	if tooMuch(text) {
		return nil
	}
	base := path.Base(name)
	lexer, known := lexersOf.Get(base)
	if !known {
		lexer = usable(lexers.Match(base))
		lexersOf.Put(base, lexer)
	}
	return lexer
}

// Named returns the lexer of the language that somebody names before a text, as in fenced code: by its name,
// an alias or the ending of its files. nil: the text is shown plain.
func Named(language, text string) *Lexer {
	if tooMuch(text) {
		return nil
	}
	return lexersNamed()[strings.ToLower(language)]
}

// lexersOf are the lexers of names of files, nil for none: chroma compares a name with some thousand
// patterns.
var lexersOf = cache.NewRecent[string, *Lexer](1000, nil)

// lexersNamed are the lexers by what people call their languages.
var lexersNamed = sync.OnceValue(func() map[string]*Lexer {
	named := map[string]*Lexer{}
	put := func(name string, l *Lexer) {
		if name = strings.ToLower(name); named[name] == nil {
			named[name] = l
		}
	}
	all := lexers.GlobalLexerRegistry.Lexers
	for _, l := range all {
		put(l.Config().Name, usable(l))
		for _, alias := range l.Config().Aliases {
			put(alias, usable(l))
		}
	}
	for _, l := range all {
		for _, pattern := range l.Config().Filenames {
			if end, ok := strings.CutPrefix(pattern, "*."); ok {
				put(end, usable(l))
			}
		}
	}
	return named
})

func usable(l chroma.Lexer) *Lexer {
	if l == nil || wholesale[l.Config().Name] {
		return nil
	}
	return &Lexer{l}
}

// tooMuch reports a text that is large, or has a line with which the regular expressions of a language may
// take very long.
func tooMuch(text string) bool {
	if len(text) > maxText {
		return true
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > maxLine {
			return true
		}
	}
	return false
}

// Pieces calls piece for each piece of the text with its class, see [Class], and returns how many bytes they
// have. It stops where isLate reports true, where the lexer fails, and after limit. Tokens come one by one,
// not joined, so that the clock is looked at after each.
func (l *Lexer) Pieces(
	text string, limit time.Duration, isLate func() bool, piece func(class, text string),
) (read int) {
	defer func() { _ = recover() }() // a lexer's mistake leaves the rest plain
	begun := time.Now()
	next, err := l.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return 0
	}
	for token := next(); token != chroma.EOF && read < len(text); token = next() {
		value := token.Value[:min(len(token.Value), len(text)-read)] // lexers may end texts with a newline
		if !strings.HasPrefix(text[read:], value) {
			return read
		}
		piece(Class(token.Type), value)
		if read += len(value); time.Since(begun) > limit || isLate() {
			return read
		}
	}
	return read
}

// Class is how a token is shown: k a keyword, t a type, s a string, m a number, c a comment, f a function,
// v a name, x what a diff deletes; empty: plain.
func Class(t chroma.TokenType) string {
	switch t {
	case chroma.KeywordType, chroma.NameClass, chroma.NameBuiltin, chroma.NameNamespace, chroma.NameException,
		chroma.NameEntity:
		return "t"
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameDecorator, chroma.GenericHeading,
		chroma.GenericSubheading:
		return "f"
	case chroma.NameTag, chroma.KeywordConstant:
		return "k"
	case chroma.NameAttribute, chroma.NameVariable, chroma.NameConstant, chroma.NameProperty:
		return "v"
	case chroma.GenericDeleted:
		return "x"
	case chroma.GenericInserted:
		return "s"
	}
	switch t.Category() {
	case chroma.Keyword:
		return "k"
	case chroma.Comment:
		return "c"
	case chroma.Literal:
		if t.SubCategory() == chroma.LiteralNumber {
			return "m"
		}
		return "s"
	}
	return ""
}
