package markdown

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// engine is goldmark with the bounds of bound.go; it is safe for concurrent use.
type engine struct {
	parser   parser.Parser
	renderer renderer.Renderer
}

// address is what becomes a link by itself: as at GitHub, the host of an address
// with a scheme may be one in the house (http://intranet/) or a number.
var address = regexp.MustCompile(
	`^(?:http|https|ftp)://[a-zA-Z0-9](?:[-a-zA-Z0-9@:%._+~#=]{0,255}[a-zA-Z0-9])?(?::[0-9]+)?` +
		"(?:[/#?][-a-zA-Z0-9@:%_+.~#$!?&/=();,'\">^{}\\[\\]`]*)?")

// goldmark is made on first use, once.
var goldmark = sync.OnceValue(newEngine)

func newEngine() *engine {
	blocks := append(parser.DefaultBlockParsers(),
		util.Prioritized(extension.NewFootnoteBlockParser(), 999))
	inlines := append(parser.DefaultInlineParsers(),
		util.Prioritized(extension.NewFootnoteParser(), 101),
		util.Prioritized(emojiParser{}, 500),
		util.Prioritized(mathParser{}, 90),
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(extension.NewStrikethroughParser(), 500),
		util.Prioritized(extension.NewLinkifyParser(extension.WithLinkifyURLRegexp(address)), 999))
	paragraphs := append(parser.DefaultParagraphTransformers(),
		util.Prioritized(extension.NewTableParagraphTransformer(), 200))
	bound(blocks, inlines, paragraphs)
	cells := extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)
	return &engine{
		parser: parser.NewParser(
			parser.WithBlockParsers(blocks...),
			parser.WithInlineParsers(inlines...),
			parser.WithParagraphTransformers(paragraphs...),
			parser.WithASTTransformers(
				util.Prioritized(extension.NewTableASTTransformer(), 0),
				util.Prioritized(extension.NewFootnoteASTTransformer(), 800),
				util.Prioritized(&finisher{}, 900)),
		),
		renderer: renderer.NewRenderer(renderer.WithNodeRenderers(
			util.Prioritized(&rawRenderer{}, 100),
			util.Prioritized(alertRenderer{}, 100),
			util.Prioritized(codeRenderer{}, 100),
			util.Prioritized(emojiRenderer{}, 100),
			util.Prioritized(mathRenderer{}, 100),
			util.Prioritized(noteRenderer{}, 100),
			util.Prioritized(extension.NewTableHTMLRenderer(cells), 500),
			util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
			util.Prioritized(extension.NewTaskCheckBoxHTMLRenderer(), 500),
			util.Prioritized(gmhtml.NewRenderer(gmhtml.WithHardWraps()), 1000),
		)),
	}
}

// render returns HTML that is not yet safe: raw HTML passes through. A defect of
// goldmark costs the body its formatting, not the reader the page.
func render(source string) (out string) {
	defer func() {
		if recover() != nil {
			out = preformatted(source)
		}
	}()
	src := []byte(source)
	doc := goldmark().parser.Parse(text.NewReader(src))
	var b strings.Builder
	b.Grow(len(source) + len(source)/2)
	if err := goldmark().renderer.Render(&b, src, doc); err != nil {
		panic(err) // a strings.Builder refuses nothing
	}
	return b.String()
}

// rawRenderer writes raw HTML as it stands, but for the tags whose content would
// not be read as HTML: those become text, as at GitHub, so that nothing after
// them is swallowed.
type rawRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (r *rawRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindRawHTML, func(w util.BufWriter, src []byte, n ast.Node,
		in bool) (ast.WalkStatus, error) {
		if in {
			writeRaw(w, n.(*ast.RawHTML).Segments.Value(src))
		}
		return ast.WalkSkipChildren, nil
	})
	reg.Register(ast.KindHTMLBlock, func(w util.BufWriter, src []byte, n ast.Node,
		in bool) (ast.WalkStatus, error) {
		if in {
			writeRaw(w, n.Lines().Value(src))
		} else if b := n.(*ast.HTMLBlock); b.HasClosure() {
			writeRaw(w, b.ClosureLine.Value(src))
		}
		return ast.WalkContinue, nil
	})
}

func writeRaw(w util.BufWriter, raw []byte) {
	for {
		i := bytes.IndexByte(raw, '<')
		if i < 0 {
			break
		}
		_, _ = w.Write(raw[:i])
		if opaque(tagName(raw[i+1:])) {
			_, _ = w.WriteString("&lt;")
		} else {
			_ = w.WriteByte('<')
		}
		raw = raw[i+1:]
	}
	_, _ = w.Write(raw)
}

// tagName returns the folded name of the tag whose inside begins with b, or "".
func tagName(b []byte) string {
	b = bytes.TrimPrefix(b, []byte{'/'})
	const longest = len("plaintext")
	for i := range min(len(b), longest+1) {
		switch b[i] {
		case ' ', '\t', '\n', '\f', '/', '>':
			return strings.ToLower(string(b[:i]))
		}
	}
	return ""
}

// opaque reports whether an HTML parser would not parse the element's content.
func opaque(tag string) bool {
	switch tag {
	case "iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea",
		"title", "xmp":
		return true
	}
	return false
}
