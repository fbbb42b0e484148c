package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// alerts are the kinds of alerts by the line that a quote of that kind begins with, with their titles.
var alerts = map[string]string{"[!note]": "Note", "[!tip]": "Tip", "[!important]": "Important",
	"[!warning]": "Warning", "[!caution]": "Caution"}

// alert is a quote that begins with a line such as [!NOTE].
type alert struct {
	ast.BaseBlock
	title string
}

var kindAlert = ast.NewNodeKind("Alert")

// Kind implements ast.Node.
func (n *alert) Kind() ast.NodeKind { return kindAlert }

// Dump implements ast.Node.
func (n *alert) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Title": n.title}, nil)
}

// titleOf returns the title of a quote that is an alert, or "". As at GitHub, a quote that stands in another
// block, or has only its first line, stays a quote.
func titleOf(quote *ast.Blockquote, source []byte) string {
	p, ok := quote.FirstChild().(*ast.Paragraph)
	if !ok || quote.Parent().Kind() != ast.KindDocument || p.Lines().Len() == 0 ||
		p.Lines().Len() == 1 && p.NextSibling() == nil {
		return ""
	}
	first := p.Lines().At(0)
	return alerts[strings.ToLower(strings.TrimSpace(string(first.Value(source))))]
}

// replaceByAlert puts an alert in the place of a quote, without the line that makes it one.
func replaceByAlert(quote *ast.Blockquote, title string) {
	p := quote.FirstChild()
	for c := p.FirstChild(); c != nil; c = p.FirstChild() {
		p.RemoveChild(p, c)
		if t, ok := c.(*ast.Text); ok && (t.SoftLineBreak() || t.HardLineBreak()) {
			break
		}
	}
	if p.FirstChild() == nil {
		quote.RemoveChild(quote, p)
	}
	n := &alert{title: title}
	for c := quote.FirstChild(); c != nil; c = quote.FirstChild() {
		n.AppendChild(n, c)
	}
	quote.Parent().ReplaceChild(quote.Parent(), quote, n)
}

// alertRenderer writes alerts with the class names that GitHub uses.
type alertRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (alertRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindAlert, func(w util.BufWriter, _ []byte, node ast.Node, in bool) (ast.WalkStatus, error) {
		if n := node.(*alert); in {
			_, _ = w.WriteString(`<div class="markdown-alert markdown-alert-` + strings.ToLower(n.title) +
				"\">\n<p class=\"markdown-alert-title\">" + n.title + "</p>\n")
		} else {
			_, _ = w.WriteString("</div>\n")
		}
		return ast.WalkContinue, nil
	})
}
