package page

import (
	"bytes"
	"html/template"
	"strings"

	"golang.org/x/net/html"
)

// placeFaults returns a page with each fault of its form below the field of that name, which names the fault as its
// description. In the message above the form the fault becomes a link to the field. A fault that no visible field
// has stays in the message alone. So templates of forms need nothing for faults.
func placeFaults(page []byte, faults []Fault) []byte {
	p := placer{left: map[string]string{}, ids: map[string]string{}}
	for _, f := range faults {
		if f.Name != "" && p.left[f.Name] == "" {
			p.left[f.Name] = f.Text
		}
	}
	if len(p.left) == 0 {
		return page
	}
	p.find(page)
	p.write(page)
	return p.out.Bytes()
}

type placer struct {
	left map[string]string // texts by the names of fields, which are not placed yet
	ids  map[string]string // the id of the first visible field of a name
	out  bytes.Buffer
	wait string // what follows the end of the field that has begun
}

// field returns the name and id of a start tag that people fill in; empty: another tag.
func field(t html.Token) (name, id string) {
	if t.Data != "input" && t.Data != "textarea" && t.Data != "select" {
		return "", ""
	}
	for _, a := range t.Attr {
		switch {
		case a.Key == "type" && (a.Val == "hidden" || a.Val == "radio" || a.Val == "checkbox" || a.Val == "submit"):
			return "", ""
		case a.Key == "name":
			name = a.Val
		case a.Key == "id":
			id = a.Val
		}
	}
	return name, id
}

// find notes the fields that the faults are about.
func (p *placer) find(page []byte) {
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			name, id := field(z.Token())
			if _, known := p.ids[name]; !known && p.left[name] != "" {
				p.ids[name] = id
			}
		}
	}
}

// write copies the page and adds the faults.
func (p *placer) write(page []byte) {
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		raw := bytes.Clone(z.Raw()) // reading the token changes it
		switch kind {
		case html.ErrorToken:
			p.out.Write(raw)
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			p.start(raw, z.Token())
		case html.EndTagToken:
			t := z.Token()
			if t.Data == "li" && p.wait == "</a>" {
				p.flush()
			}
			p.out.Write(raw)
			if t.Data == "textarea" || t.Data == "select" {
				p.flush()
			}
		default:
			p.out.Write(raw)
		}
	}
}

func (p *placer) flush() {
	p.out.WriteString(p.wait)
	p.wait = ""
}

func (p *placer) start(raw []byte, t html.Token) {
	if t.Data == "li" && len(t.Attr) == 1 && t.Attr[0].Key == "data-field" {
		p.out.Write(raw)
		if id := p.ids[t.Attr[0].Val]; id != "" {
			p.out.WriteString(`<a href="#` + template.HTMLEscapeString(id) + `">`)
			p.wait = "</a>"
		}
		return
	}
	name, _ := field(t)
	text := p.left[name]
	if text == "" {
		p.out.Write(raw)
		return
	}
	delete(p.left, name)
	id := template.HTMLEscapeString("wrong-" + name)
	tag := strings.TrimSuffix(strings.TrimSuffix(string(raw), ">"), "/")
	p.out.WriteString(tag + ` aria-invalid="true" aria-describedby="` + id + `">`)
	p.wait = `<span class="wrong" id="` + id + `">` + template.HTMLEscapeString(text) + `</span>`
	if t.Data == "input" {
		p.flush()
	}
}
