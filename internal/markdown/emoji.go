package markdown

import (
	"bytes"
	"strings"
	"sync"
	"unicode"

	"github.com/kyokomi/emoji/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_+-"

// maxEmojiName is more than the bytes of the longest name.
const maxEmojiName = 100

// Emojis returns the emojis that have a name, by that name without its colons. Nobody may change the map.
var Emojis = sync.OnceValue(func() map[string]string {
	named := map[string]string{}
	for name, text := range emoji.CodeMap() {
		name, text = strings.Trim(name, ":"), strings.TrimSpace(text)
		if name != "" && len(name) < maxEmojiName && text != "" && strings.Trim(name, nameLetters) == "" {
			named[name] = text
		}
	}
	return named
})

// emojiNode is :name: in a text.
type emojiNode struct {
	ast.BaseInline
	name, text string
}

var kindEmoji = ast.NewNodeKind("Emoji")

// Kind implements ast.Node.
func (n *emojiNode) Kind() ast.NodeKind { return kindEmoji }

// Dump implements ast.Node.
func (n *emojiNode) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Name": n.name}, nil)
}

// emojiParser reads :name:. A number between colons is an emoji only where no word goes on, so that 12:100:30
// stays a time.
type emojiParser struct{}

// Trigger implements parser.InlineParser.
func (emojiParser) Trigger() []byte { return []byte{':'} }

// Parse implements parser.InlineParser.
func (emojiParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	end := bytes.IndexByte(line[1:min(len(line), 1+maxEmojiName)], ':')
	if end < 1 {
		return nil
	}
	name := string(line[1 : 1+end])
	text, known := Emojis()[name]
	if !known || allDigits(name) && (isWordRune(block.PrecendingCharacter()) ||
		end+2 < len(line) && isAlnum(line[end+2])) {
		return nil
	}
	block.Advance(end + 2)
	return &emojiNode{name: name, text: text}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// emojiRenderer writes emojis as characters.
type emojiRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (emojiRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindEmoji, func(w util.BufWriter, _ []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		if in {
			_, _ = w.WriteString(n.(*emojiNode).text)
		}
		return ast.WalkContinue, nil
	})
}
