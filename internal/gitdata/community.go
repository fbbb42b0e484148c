package gitdata

import (
	"context"
	"net/http"
	"path"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/license"
	"arbor/internal/repo"
)

// communityJSON is GitHub's community-profile.
type communityJSON struct {
	Health        int             `json:"health_percentage"`
	Description   *string         `json:"description"`
	Documentation *string         `json:"documentation"`
	Files         healthFilesJSON `json:"files"`
	UpdatedAt     *db.Time        `json:"updated_at"`
	Reports       *bool           `json:"content_reports_enabled,omitempty"` // of organizations
}

type healthFilesJSON struct {
	Conduct      *conductJSON    `json:"code_of_conduct"`
	ConductFile  *healthFileJSON `json:"code_of_conduct_file"`
	License      *license.Simple `json:"license"`
	Contributing *healthFileJSON `json:"contributing"`
	Readme       *healthFileJSON `json:"readme"`
	Issues       *healthFileJSON `json:"issue_template"`
	Pulls        *healthFileJSON `json:"pull_request_template"`
}

// conductJSON is GitHub's code-of-conduct-simple. Its kind is not recognized.
type conductJSON struct {
	Key     string `json:"key"`
	Name    string `json:"name"`
	URL     string `json:"url"`
	HTMLURL string `json:"html_url"`
}

type healthFileJSON struct {
	URL     string `json:"url"`
	HTMLURL string `json:"html_url"`
}

// GET /repos/{owner}/{repo}/community/profile
//
// GetCommunity returns which community files the default branch has: in the root, .github or docs.
// Error: 404 for a fork.
func (api *API) GetCommunity(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if a.ParentID != 0 {
		return errs.Absent()
	}
	return api.cached(w, r, a, basis{elsewhere: true}, func(ctx context.Context) (any, error) {
		out := communityJSON{Description: a.Description, Documentation: a.Homepage}
		if a.Owner.Kind == account.Organization {
			out.Reports = new(bool)
		}
		v, err := api.s.view(ctx, a, "")
		switch {
		case errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound): // an empty repository
			out.Health = out.health()
			return out, nil
		case err != nil:
			return nil, err
		}
		defer v.release()
		if err := v.healthFiles(ctx, &out.Files); err != nil {
			return nil, err
		}
		out.Files.License, out.UpdatedAt = license.NewSimple(a.License, v.info), &a.PushedAt
		out.Health = out.health()
		return out, nil
	})
}

// health returns which part of what is expected is there, in percent.
func (c *communityJSON) health() int {
	f, has := &c.Files, 0
	list := []bool{c.Description != nil && *c.Description != "", f.Readme != nil, f.License != nil, f.Conduct != nil,
		f.Contributing != nil, f.Issues != nil, f.Pulls != nil}
	for _, there := range list {
		if there {
			has++
		}
	}
	return 100 * has / len(list)
}

// healthFiles finds the files in the directories where readmes are looked for.
func (v *view) healthFiles(ctx context.Context, out *healthFilesJSON) error {
	readme, err := v.readme(ctx, readmeDirs[:])
	if err == nil {
		out.Readme = v.healthFile(readme)
	} else if !errs.Is(err, errs.NotFound) {
		return err
	}
	for _, dir := range readmeDirs {
		list, err := v.among(ctx, dir, func(name string) bool { return healthKind(name) != "" })
		if err != nil {
			return err
		}
		for _, e := range list {
			kind := healthKind(e.Path)
			e.Path = path.Join(dir, e.Path)
			to := map[string]**healthFileJSON{"contributing": &out.Contributing, "code_of_conduct": &out.ConductFile,
				"issue_template": &out.Issues, "pull_request_template": &out.Pulls}[kind]
			isFolder := e.Type == git.TypeTree && strings.HasSuffix(kind, "_template")
			if *to == nil && (isFolder || e.Type == git.TypeBlob) {
				*to = v.healthFile(e)
			}
		}
	}
	if f := out.ConductFile; f != nil {
		out.Conduct = &conductJSON{Key: "other", Name: "Other", URL: f.URL, HTMLURL: f.HTMLURL}
	}
	return nil
}

// healthKind returns what a file or directory of a name is, or "".
func healthKind(name string) string {
	name = strings.ToLower(name)
	bare := strings.TrimSuffix(name, path.Ext(name))
	switch bare {
	case "contributing", "code_of_conduct", "issue_template", "pull_request_template":
		return bare
	}
	return ""
}

// healthFile returns the addresses of a file or directory.
func (v *view) healthFile(e git.TreeEntry) *healthFileJSON {
	kind := "/blob/"
	if e.Type == git.TypeTree {
		kind = "/tree/"
	}
	return &healthFileJSON{URL: v.api + "/contents/" + escapePath(e.Path),
		HTMLURL: v.page + kind + escapePath(v.ref) + "/" + escapePath(e.Path)}
}
