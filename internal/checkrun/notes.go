package checkrun

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxMessage is how many characters of an annotation's message are shown beside changes: a page shows a hundred.
const maxMessage = 2000

// note is the beginning of an annotation, with the run that says it.
type note struct {
	*annotationPayload
	Run noteRun `json:"check_run"`
	Cut bool    `json:"cut"` // the run has a longer message, or details
}

type noteRun struct {
	Name    string `json:"name"`
	HTMLURL string `json:"html_url"`
}

// noteRow is an annotation as it is stored, with its run.
type noteRow struct {
	Annotation
	runID int64
	run   string
	cut   bool
}

// ListAnnotationsOfCommit answers the beginnings of what the latest runs of the commit of the parameter sha say of lines, for
// the page of a pull request's changes: run by run, each in the order in which it came. The commit was found for the
// caller before.
func (api *API) ListAnnotationsOfCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	out := []note{}
	v := newView(r, a)
	for _, sha := range git.ParseSHAs(web.QueryOf(r).Get("sha"), 1) {
		var list []noteRow
		err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
			list, err = annotationsOfCommit(tx, a.ID, sha, web.ReadPageSize(r))
			return err
		})
		if err != nil {
			return err
		}
		for n := range list {
			of := noteRun{list[n].run, v.at.Page + "/runs/" + itoa(list[n].runID)}
			out = append(out, note{v.annotation(sha, &list[n].Annotation), of, list[n].cut})
		}
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// annotationsOfCommit reads some annotations of the latest runs of a commit.
func annotationsOfCommit(tx *db.Tx, repoID repo.ID, sha git.SHA, most int64) ([]noteRow, error) {
	return db.QueryList(tx, func(row db.Scanner) (a noteRow, err error) {
		err = row.Scan(&a.runID, &a.run, &a.Path, &a.StartLine, &a.EndLine, &a.StartColumn, &a.EndColumn, &a.Level, &a.Title,
			&a.Message, &a.cut)
		return a, err
	}, `SELECT r.id, r.name, a.path, a.start_line, a.end_line, a.start_column, a.end_column, a.level, a.title,
		SUBSTR(a.message, 1, $4), LENGTH(a.message) > $4 OR a.raw_details IS NOT NULL FROM check_runs r JOIN check_annotations a ON a.run_id = r.id
		WHERE r.repo_id = $1 AND r.head_sha = $2 AND r.latest = TRUE AND r.annotations > 0
		ORDER BY r.id, a.id LIMIT $3`, repoID, sha, most, maxMessage)
}
