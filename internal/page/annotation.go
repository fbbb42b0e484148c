package page

// Annotation is what a check says of some lines of a file.
type Annotation struct {
	Path    string
	Href    string `json:"blob_href"`
	Start   int64  `json:"start_line"`
	End     int64  `json:"end_line"`
	Level   string `json:"annotation_level"`
	Title   string
	Message string
	Details string `json:"raw_details"`
	Run     struct {
		Name    string
		HTMLURL string `json:"html_url"`
	} `json:"check_run"` // that says it, where those of several are shown together
	Cut bool // its page shows more

	Shown, More Clipped `json:"-"` // the message and the details, see [ClipAnnotations]
}

// Address is that of the lines on this site.
func (a *Annotation) Address() string { return Local(a.Href) }

// RunPage is the address of the check run.
func (a *Annotation) RunPage() string { return Local(a.Run.HTMLURL) }

// How much of annotations a page shows, in bytes: of a message or of details, and of all of them.
const (
	maxAnnotation  = 32 << 10
	maxAnnotations = 512 << 10
)

// ClipAnnotations cuts the texts of annotations to what a page shows.
func ClipAnnotations(list []Annotation) {
	left := maxAnnotations
	for i := range list {
		a := &list[i]
		a.Shown = Clip(a.Message, min(left, maxAnnotation))
		left -= len(a.Shown.Text)
		a.More = Clip(a.Details, min(left, maxAnnotation))
		left -= len(a.More.Text)
	}
}
