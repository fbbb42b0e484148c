package page

import (
	"bytes"
	"html/template"
	"strings"

	"golang.org/x/net/html"
)

// placeFaults returns a page with each error of its form below the field that it names, as the field's description and
// with the field's label for its name. In the message above the form the error becomes a link to the field. An error
// without a visible field stays in the message. Templates need no markup for errors.
func placeFaults(page []byte, faults []Fault) []byte {
	p := placer{left: map[string]string{}, ids: map[string]string{}, labels: map[string]string{}}
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
	left   map[string]string // texts by the names of fields, which are not placed yet
	ids    map[string]string // the id of the first visible field of a name
	out    bytes.Buffer
	labels map[string]string // texts of labels by the ids of their fields
	wait   string            // what follows the end of the field that has begun
	item   string            // the field of the message's item that has begun
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

// find notes the fields that the faults are about, and the labels.
func (p *placer) find(page []byte) {
	label := "" // the id of the field of the label that has begun
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			label = ""
			if t.Data == "label" && len(t.Attr) == 1 && t.Attr[0].Key == "for" {
				label = t.Attr[0].Val
			}
			name, id := field(t)
			if _, known := p.ids[name]; !known && p.left[name] != "" {
				p.ids[name] = id
			}
		case html.TextToken:
			if text := strings.TrimSpace(string(z.Text())); label != "" && text != "" && p.labels[label] == "" {
				p.labels[label] = html.UnescapeString(text)
			}
		case html.EndTagToken:
			label = ""
		}
	}
}

// inWords is a fault of a field with the field's label in place of its name in the API.
func (p *placer) inWords(name, text string) string {
	label := p.labels[p.ids[name]]
	rest, is := strings.CutPrefix(text, capital(wordsOf(name))+" ")
	if label == "" || p.ids[name] == "" || !is {
		return text
	}
	return label + " " + rest
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
			if t.Data == "li" {
				p.item = ""
				if p.wait == "</a>" {
					p.flush()
				}
			}
			p.out.Write(raw)
			if t.Data == "textarea" || t.Data == "select" {
				p.flush()
			}
		default:
			if kind == html.TextToken && p.item != "" {
				raw = []byte(template.HTMLEscapeString(p.inWords(p.item, html.UnescapeString(string(raw)))))
			}
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
			p.item = t.Attr[0].Val
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
	p.wait = `<span class="wrong" id="` + id + `">` + template.HTMLEscapeString(p.inWords(name, text)) + `</span>`
	if t.Data == "input" {
		p.flush()
	}
}
