package code

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"image"
	_ "image/jpeg" // sizes of pictures
	_ "image/png"
	"net/http"
	"regexp"
	"strings"
	"time"

	"arbor/internal/admission"
	"arbor/internal/markdown"
	"arbor/internal/page"
)

// Bounds of a notebook; what is beyond them is in the source.
const (
	maxBookCells = 500
	maxOutputs   = 20       // of a cell
	maxOutput    = 20 << 10 // bytes of an output's text
	maxPixels    = 10_000   // width and height of a picture
	maxBookTime  = 500 * time.Millisecond
)

// notebook is a Jupyter notebook of version 4.
type notebook struct {
	Cells []struct {
		Type    string    `json:"cell_type"`
		Source  joined    `json:"source"`
		Count   *int      `json:"execution_count"`
		Outputs []*output `json:"outputs"`
	} `json:"cells"`
	Metadata struct {
		Language struct {
			Extension string `json:"file_extension"`
		} `json:"language_info"`
	} `json:"metadata"`
}

// output is one result of running a cell.
type output struct {
	Text      joined                     `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Name      string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// joined is a text, or a list of its parts.
type joined string

// UnmarshalJSON implements json.Unmarshaler.
func (t *joined) UnmarshalJSON(data []byte) error {
	var parts []string
	if json.Unmarshal(data, &parts) == nil {
		*t = joined(strings.Join(parts, ""))
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// bookCell is a cell as the page shows it.
type bookCell struct {
	Count   int             // 0: none
	HTML    template.HTML   // of Markdown
	Lines   []template.HTML // of code
	Outputs []bookOutput
}

// bookOutput is an output: a picture, HTML or a text.
type bookOutput struct {
	Picture       template.URL
	Width, Height int
	HTML          template.HTML
	Text          string
}

// readNotebook reads a notebook; nil: the text cannot be read as one.
func readNotebook(text string) *notebook {
	book := &notebook{}
	if json.Unmarshal([]byte(text), book) != nil || len(book.Cells) == 0 {
		return nil
	}
	return book
}

// cells renders the cells of a notebook. Code is in colours until maxBookTime has gone. Error: 503 without room.
func (p *Pages) cells(r *http.Request, v *blobView, book *notebook) (list []bookCell, err error) {
	at := where{v.Link("blob", v.At.Path), v.Link("raw", v.At.Path), v.Link("blob", "")}
	images := func(html string) string { return p.with.Git.Images.HTML(r.Context(), html) }
	late := time.Now().Add(maxBookTime)
	for _, c := range book.Cells[:min(len(book.Cells), maxBookCells)] {
		x, source := bookCell{}, clean(string(c.Source))
		if c.Count != nil {
			x.Count = *c.Count
		}
		if c.Type == "markdown" {
			release, err := admission.Memory(r.Context(), markdown.Cost(len(source)))
			if err != nil {
				return nil, err
			}
			// Trusted: package markdown has sanitized it.
			x.HTML = template.HTML(relink(images(markdown.Parse(source).HTML(markdown.Links{})), at))
			release()
			list = append(list, x)
			continue
		}
		name := "cell" + book.Metadata.Language.Extension
		if c.Type != "code" || time.Now().After(late) {
			name = ""
		}
		for _, line := range p.kit.Texts.Lines(r.Context(), name, source) {
			x.Lines = append(x.Lines, template.HTML(line)) // escaped by package highlight
		}
		for _, o := range c.Outputs[:min(len(c.Outputs), maxOutputs)] {
			if o != nil {
				x.Outputs = append(x.Outputs, o.show(images))
			}
		}
		list = append(list, x)
	}
	return list, nil
}

// clean is a text without returns and bytes that are not UTF-8.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
}

// escapes are the codes by which terminals change colours.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// show returns the best form of the output that is safe. images gives images of other hosts their addresses.
func (o *output) show(images func(html string) string) (x bookOutput) {
	for _, kind := range [...]string{"image/png", "image/jpeg"} {
		if x, ok := pictureIn(kind, o.text(kind)); ok {
			return x
		}
	}
	if html := o.text("text/html"); html != "" && len(html) <= maxOutput {
		if x.HTML = template.HTML(images(markdown.Sanitize(html))); x.HTML != "" {
			return x
		}
	}
	text := string(o.Text) + o.text("text/plain")
	if o.Name != "" || len(o.Traceback) > 0 {
		text += o.Name + ": " + o.Value + "\n" + strings.Join(o.Traceback, "\n")
	}
	x.Text = page.Clip(escapes.ReplaceAllString(clean(text), ""), maxOutput).Text
	return x
}

// text is the data of a kind; empty: there is none.
func (o *output) text(kind string) string {
	var t joined
	if json.Unmarshal(o.Data[kind], &t) != nil {
		return ""
	}
	return string(t)
}

// pictureIn reads a picture in Base64.
func pictureIn(kind, text string) (x bookOutput, ok bool) {
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "\n", ""))
	if err != nil || len(data) == 0 {
		return x, false
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || "image/"+format != kind || size.Width > maxPixels || size.Height > maxPixels {
		return x, false
	}
	x.Width, x.Height = size.Width, size.Height
	x.Picture = template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data))
	return x, true
}
