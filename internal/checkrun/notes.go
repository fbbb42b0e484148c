package checkrun

import (
	"net/http"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxShown is how many characters of an annotation's message, and of its details, a page with a hundred of
// them shows.
const maxShown = 2000

// note is the beginning of an annotation, with the run that says it.
type note struct {
	*AnnotationPayload
	HTMLURL string  `json:"html_url"` // the page that shows all of it
	Run     noteRun `json:"check_run"`
	Cut     bool    `json:"cut"` // there is more of the message, or of the details
}

type noteRun struct {
	Name    string `json:"name"`
	HTMLURL string `json:"html_url"`
}

// noteRow is an annotation as it is stored, with its run.
type noteRow struct {
	Annotation
	id    int64
	run   Run // id, name, SHA, and how many annotations it has
	isCut bool
}

// ListAnnotationsOfCommit answers the beginnings of what the latest runs of the commit of the parameter sha
// say of lines, without details, for the page of a pull request's changes: run by run, each in the order in
// which it came. The commit was found for the caller before.
func (api *API) ListAnnotationsOfCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var list []noteRow
	for _, sha := range git.ParseSHAs(web.QueryOf(r).Get("sha"), 1) {
		err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
			list, err = notesWhere(tx, maxShown,
				0, `r.repo_id = $3 AND r.head_sha = $4 AND r.latest = TRUE AND r.annotations > 0
				ORDER BY r.id, a.id LIMIT $5`, a.ID, sha, web.ReadPageSize(r))
			return err
		})
		if err != nil {
			return err
		}
	}
	return answerNotes(w, r, a, list)
}

// ListAnnotationsForPage answers a page of the beginnings of a run's annotations, in the order in which they
// came; with the parameter annotation the one with that id alone, all of it. It answers an empty list where
// there is none.
func (api *API) ListAnnotationsForPage(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	run, err := web.Number(r, "check_run_id")
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	var list []noteRow
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if one := web.QueryOf(r).Get("annotation"); one != "" {
			id, _ := web.ParseNumber(one)
			list, err = notesWhere(tx, maxText, maxText, `r.repo_id = $3 AND r.id = $4 AND a.id = $5`,
				a.ID, run, id)
			return err
		}
		list, err = notesWhere(tx, maxShown, maxShown, `r.repo_id = $3 AND a.id IN
			(SELECT id FROM check_annotations WHERE run_id = $4 ORDER BY id LIMIT $5 OFFSET $6) ORDER BY a.id`,
			a.ID, run, page.Size, page.Offset())
		return err
	})
	if err != nil {
		return err
	}
	if len(list) > 0 {
		web.Link(w, r, page, list[0].run.Annotations)
	}
	return answerNotes(w, r, a, list)
}

func answerNotes(w http.ResponseWriter, r *http.Request, a *repo.Access, list []noteRow) error {
	v := newView(r.Context(), a)
	out := make([]note, len(list))
	for n := range list {
		row := &list[n]
		page := v.at.Page + "/runs/" + strconv.FormatInt(row.run.ID, 10)
		out[n] = note{v.annotation(row.run.SHA, &row.Annotation), page + "?annotation=" + strconv.FormatInt(row.id, 10),
			noteRun{row.run.Name, page}, row.isCut}
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// notesWhere reads annotations a of runs r: of messages and of details so many characters. where begins with
// the condition, whose first value is $3.
func notesWhere(tx *db.Tx, message, details int, where string, args ...any) ([]noteRow, error) {
	return db.QueryList(tx, func(row db.Scanner) (n noteRow, err error) {
		err = row.Scan(&n.run.ID, &n.run.Name, &n.run.SHA, &n.run.Annotations, &n.id, &n.Path,
			&n.StartLine, &n.EndLine, &n.StartColumn, &n.EndColumn, &n.Level, &n.Title, &n.Message,
			&n.RawDetails, &n.isCut)
		return n, err
	}, `SELECT r.id, r.name, r.head_sha, r.annotations, a.id, a.path, a.start_line, a.end_line,
		a.start_column, a.end_column, a.level, a.title, SUBSTR(a.message, 1, $1), SUBSTR(a.raw_details, 1,
		$2), LENGTH(a.message) > $1 OR COALESCE(LENGTH(a.raw_details), 0) > $2
		FROM check_runs r JOIN check_annotations a ON a.run_id = r.id
		WHERE `+where, append([]any{message, details}, args...)...)
}
