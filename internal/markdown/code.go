package markdown

import (
	"strings"
	"time"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"

	"arbor/internal/highlight"
)

// Bounds of the colours of one document. Code beyond them is plain.
const (
	maxColoured   = 64 << 10 // bytes of code
	maxColouring  = 500 * time.Millisecond
	colourMarkup  = 32 << 10 // bytes of tags, and as many again as the source has
	maxColourTags = 12       // bytes of tags for each byte of a block
)

// colours is what the colours of one document may still cost. Its blocks of code share it.
type colours struct {
	code, markup int
	time         time.Duration
}

func newColours(source []byte) *colours {
	return &colours{maxColoured, colourMarkup + len(source), maxColouring}
}

// pieceClasses are GitHub's class names for those of package highlight.
var pieceClasses = map[string]string{"k": "pl-k", "t": "pl-smi", "f": "pl-en", "s": "pl-s", "m": "pl-c1",
	"c": "pl-c", "v": "pl-v", "x": "pl-md"}

// colour returns HTML of a block of code; ok is false where it stays plain.
func (c *colours) colour(language, code string) (out string, ok bool) {
	if c == nil || language == "" || len(code) > c.code || c.time <= 0 {
		return "", false
	}
	lexer := highlight.Named(language, code)
	if lexer == nil {
		return "", false
	}
	begun := time.Now()
	w := pieceWriter{left: min(c.markup, maxColourTags*len(code))}
	read := lexer.Pieces(code, c.time, func() bool { return w.left < 0 }, w.add)
	c.code, c.time = c.code-len(code), c.time-time.Since(begun)
	if w.left < 0 {
		return "", false
	}
	w.open("")
	w.out.WriteString(html.EscapeString(code[read:]))
	c.markup -= w.used
	return w.out.String(), true
}

// pieceWriter writes pieces of code as spans; neighbours of one class are one span, with the space between
// them.
type pieceWriter struct {
	out        strings.Builder
	class      string
	space      string // after the last piece
	used, left int    // bytes of tags
}

func (w *pieceWriter) add(class, text string) {
	word := strings.TrimRight(text, " \t\n")
	if word != "" {
		if class != w.class {
			w.open(class)
		}
		w.out.WriteString(w.space + html.EscapeString(word))
		w.space = ""
	}
	w.space += text[len(word):]
}

// open closes the span that is open, and opens one of a class, if that is not empty.
func (w *pieceWriter) open(class string) {
	before := w.out.Len()
	if w.class != "" {
		w.out.WriteString("</span>")
	}
	w.out.WriteString(w.space)
	if class != "" {
		w.out.WriteString(`<span class="` + pieceClasses[class] + `">`)
	}
	w.class, w.used = class, w.used+w.out.Len()-before-len(w.space)
	w.left -= w.out.Len() - before - len(w.space)
	w.space = ""
}

// codeRenderer writes fenced code, in colours as far as the document's bounds go.
type codeRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (codeRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, src []byte, node ast.Node,
		in bool) (ast.WalkStatus, error) {
		if !in {
			_, _ = w.WriteString("</code></pre>\n")
			return ast.WalkContinue, nil
		}
		n := node.(*ast.FencedCodeBlock)
		language, code := string(n.Language(src)), string(n.Lines().Value(src))
		_, _ = w.WriteString("<pre><code")
		if language != "" {
			_, _ = w.WriteString(` class="language-` + html.EscapeString(language) + `"`)
		}
		_ = w.WriteByte('>')
		of, _ := n.AttributeString("colours")
		c, _ := of.(*colours)
		out, ok := c.colour(language, code)
		if !ok {
			out = html.EscapeString(code)
		}
		_, _ = w.WriteString(out)
		return ast.WalkContinue, nil
	})
}
