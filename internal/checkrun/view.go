package checkrun

import (
	"context"
	"encoding/json"

	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// View is a run with its App: the value that pages for people show.
type View struct {
	*Run
	App *app.App // nil: it is gone
}

// Get reads a run with its App. Error: 404.
func (s *Service) Get(ctx context.Context, a *repo.Access, id int64) (*View, error) {
	v := &View{}
	return v, s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if v.Run, err = runByID(tx, a.ID, id); err != nil {
			return err
		}
		apps, err := s.apps.Find(tx, v.AppID)
		v.App = apps[v.AppID]
		return err
	})
}

// Extras are what GitHub's API takes of a run and does not answer.
type Extras struct {
	Images []struct {
		Alt     string `json:"alt"`
		URL     string `json:"image_url"`
		Caption string `json:"caption"`
	}
	Actions []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	}
}

// Extras reads the images and the actions of the run.
func (r *Run) Extras() (e Extras, err error) {
	if r.Images != nil {
		err = json.Unmarshal([]byte(*r.Images), &e.Images)
	}
	if err == nil && r.Actions != nil {
		err = json.Unmarshal([]byte(*r.Actions), &e.Actions)
	}
	return e, err
}
