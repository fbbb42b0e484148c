package page

import (
	"strconv"
	"strings"

	"arbor/internal/checkrun"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Annotation is what a check says of some lines of a file: with Cut the beginning of it.
type Annotation struct {
	Path       string
	Address    string // of the lines
	RunPage    string // of the check run
	Whole      string // the page that shows all of it
	Start, End int64
	Level      string
	Title      string
	Message    string
	Details    string
	Run        struct{ Name string }
	Cut        bool

	Above bool // the page is about its run
	Alone bool // the page shows no other
}

// NewAnnotation returns the view of an annotation in a repository.
func NewAnnotation(n *checkrun.Note, a *repo.Access) Annotation {
	at := web.Path(a.Owner.Login, a.Name)
	v := Annotation{Path: n.Path, RunPage: at + "/runs/" + strconv.FormatInt(n.Run.ID, 10),
		Address: at + "/blob/" + string(n.Run.SHA) + web.Path(strings.Split(n.Path, "/")...),
		Start:   n.StartLine, End: n.EndLine, Level: n.Level.String(), Title: TextOf(n.Title), Message: n.Message,
		Details: TextOf(n.RawDetails), Cut: n.IsCut}
	v.Whole = v.RunPage + "?annotation=" + strconv.FormatInt(n.ID, 10)
	v.Run.Name = n.Run.Name
	return v
}
