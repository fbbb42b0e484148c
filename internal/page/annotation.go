package page

// Annotation is what a check says of some lines of a file: with Cut the beginning of it.
type Annotation struct {
	Path    string
	Href    string `json:"blob_href"`
	HTMLURL string `json:"html_url"`
	Start   int64  `json:"start_line"`
	End     int64  `json:"end_line"`
	Level   string `json:"annotation_level"`
	Title   string
	Message string
	Details string `json:"raw_details"`
	Run     struct {
		Name    string
		HTMLURL string `json:"html_url"`
	} `json:"check_run"`
	Cut bool

	Above bool `json:"-"` // its run is what the page is about
	Alone bool `json:"-"` // the page shows no other
}

// Address is that of the lines on this site.
func (a *Annotation) Address() string { return Local(a.Href) }

// RunPage is the address of the check run.
func (a *Annotation) RunPage() string { return Local(a.Run.HTMLURL) }

// Whole is the address of the page that shows all of it.
func (a *Annotation) Whole() string { return Local(a.HTMLURL) }
