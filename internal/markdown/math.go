package markdown

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
)

// maxMath bounds a formula, in bytes.
const maxMath = 4096

// mathNode is a formula with its dollars: $x$, $`x`$ or $$x$$.
type mathNode struct {
	ast.BaseInline
	source  []byte
	display bool // on lines of its own
}

var kindMath = ast.NewNodeKind("Math")

// Kind implements ast.Node.
func (n *mathNode) Kind() ast.NodeKind { return kindMath }

// Dump implements ast.Node.
func (n *mathNode) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Source": string(n.source)}, nil)
}

// mathParser reads formulas as GitHub does. A dollar begins one where no word ends and no space follows; the next dollar
// ends it, unless a space stands before it or a word follows. So prices and variables of a shell stay text.
type mathParser struct{}

// Trigger implements parser.InlineParser.
func (mathParser) Trigger() []byte { return []byte{'$'} }

// Parse implements parser.InlineParser.
func (mathParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	if before := block.PrecendingCharacter(); isWordRune(before) || before == '$' {
		return nil
	}
	line, _ := block.PeekLine()
	if bytes.HasPrefix(line, []byte("$$")) {
		return displayed(block)
	}
	mark, end := []byte{'$'}, 0
	if bytes.HasPrefix(line, []byte("$`")) {
		mark, end = []byte("`$"), 1
	}
	length := bytes.Index(line[1+end:min(len(line), maxMath)], mark)
	if length < 1 {
		return nil
	}
	inside := line[1+end : 1+end+length]
	size := 1 + end + length + len(mark)
	next, _ := utf8.DecodeRune(line[size:])
	last := inside[len(inside)-1]
	if isSpace(inside[0]) || isSpace(last) || last == '\\' || isWordRune(next) || next == '$' {
		return nil
	}
	block.Advance(size)
	return &mathNode{source: bytes.Clone(line[:size])}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// displayed reads $$x$$, which may have several lines. It reads on only as far as the block goes.
func displayed(block text.Reader) ast.Node {
	was, at := block.Position()
	n := &mathNode{display: true}
	for {
		line, _ := block.PeekLine()
		if line == nil || len(n.source) > maxMath {
			break
		}
		from := 0
		if n.source == nil {
			from = len("$$")
		}
		if end := bytes.Index(line[from:], []byte("$$")); end >= 0 {
			end += from + len("$$")
			n.source = append(n.source, line[:end]...)
			block.Advance(end)
			if len(bytes.TrimSpace(n.source)) > len("$$$$") {
				return n
			}
			break
		}
		n.source = append(n.source, line...)
		block.AdvanceLine()
	}
	block.SetPosition(was, at)
	return nil
}

// mathRenderer writes formulas as code, which pages turn into MathML.
type mathRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (mathRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindMath, func(w util.BufWriter, _ []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		if m := n.(*mathNode); in {
			class := "inline"
			if m.display {
				class = "display"
			}
			_, _ = w.WriteString(`<code class="language-math math-` + class + `">` +
				html.EscapeString(string(m.source)) + "</code>")
		}
		return ast.WalkContinue, nil
	})
}
