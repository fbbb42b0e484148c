package graphql

import (
	"context"
	"encoding/json"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/deployment"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

func createDeployment(ctx context.Context, m *mutation) (map[string]any, error) {
	if err := m.below(ctx, "refId", "Ref"); err != nil {
		return nil, err
	}
	var made *deployment.Deployment
	ref, err := m.act(ctx, "refId", "Ref", "POST /repos/{owner}/{repo}/deployments",
		func(ctx context.Context, a *repo.Access, ref *object) error {
			body, err := m.deployment(ref.name)
			if err != nil {
				return err
			}
			d, contexts, err := deployment.ReadNew(body)
			if err != nil {
				return err
			}
			if d.SHA, err = m.do.Git.CommitNamed(ctx, a, ref.name); err == nil {
				made, err = m.load.Deployments.Create(ctx, a, d, contexts)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	shown, err := m.shown(ctx, "Deployment", ref.repo, spot{}, made.ID)
	return map[string]any{"deployment": shown, "autoMerged": false}, err
}

// deployment returns the fields of a deployment of a ref that an input has, under the names of REST.
func (m *mutation) deployment(ref string) (*web.Object, error) {
	body := renamed(m.input, map[string]string{"task": "task", "environment": "environment", "description": "description",
		"requiredContexts": "required_contexts"})
	body["ref"] = strings.TrimPrefix(strings.TrimPrefix(ref, git.Heads), git.Tags)
	if payload := m.text("payload"); payload != "" {
		if !json.Valid([]byte(payload)) {
			return nil, refused("payload must be JSON.")
		}
		body["payload"] = json.RawMessage(payload)
	}
	return bodyOf(deployment.Resource, body)
}

func createDeploymentStatus(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.act(ctx, "deploymentId", "Deployment", "POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses",
		func(ctx context.Context, a *repo.Access, o *object) error {
			body := renamed(m.input, map[string]string{"description": "description", "environment": "environment",
				"environmentUrl": "environment_url", "logUrl": "log_url", "autoInactive": "auto_inactive"})
			body["state"] = strings.ToLower(m.text("state"))
			sent, err := bodyOf(deployment.StatusResource, body)
			if err != nil {
				return err
			}
			n, deactivate, err := deployment.ReadNewStatus(sent)
			if err == nil {
				_, _, err = m.load.Deployments.AddStatus(ctx, a, o.id, n, deactivate)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	if o, err = m.again(ctx, o); err != nil {
		return nil, err
	}
	return map[string]any{"deploymentStatus": latestStatus(o)}, nil
}

func deleteDeployment(ctx context.Context, m *mutation) (map[string]any, error) {
	_, err := m.act(ctx, "id", "Deployment", "DELETE /repos/{owner}/{repo}/deployments/{deployment_id}",
		func(ctx context.Context, a *repo.Access, o *object) error {
			return m.load.Deployments.Delete(ctx, a, o.id)
		})
	return map[string]any{}, err
}

const editEnvironments = "PUT /repos/{owner}/{repo}/environments/{environment_name}"

func createEnvironment(ctx context.Context, m *mutation) (map[string]any, error) {
	var made *deployment.Environment
	in, err := m.act(ctx, "repositoryId", "Repository", editEnvironments,
		func(ctx context.Context, a *repo.Access, _ *object) (err error) {
			made, err = m.load.Deployments.MakeEnvironment(ctx, a, m.text("name"))
			return err
		})
	if err != nil {
		return nil, err
	}
	return map[string]any{"environment": newEnvironment(in, made)}, nil
}

func updateEnvironment(ctx context.Context, m *mutation) (map[string]any, error) {
	var made *deployment.Environment
	o, err := m.act(ctx, "environmentId", "Environment", editEnvironments,
		func(ctx context.Context, a *repo.Access, o *object) error {
			reviewers, err := m.reviewers()
			if err != nil {
				return err
			}
			made, err = m.load.Deployments.EditEnvironment(ctx, a, o.id, func(e *deployment.Environment) {
				if reviewers != nil {
					e.Reviewers = *reviewers
				}
				if minutes, given := m.input["waitTimer"].(int); given {
					e.WaitTimer = int64(minutes)
				}
				if v := m.flag("preventSelfReview"); v.Set {
					e.PreventSelfReview = v.Value
				}
			})
			return err
		})
	if err != nil {
		return nil, err
	}
	return map[string]any{"environment": newEnvironment(o.repo, made)}, nil
}

// reviewers returns the users of an input by their node ids; nil: the input has none.
func (m *mutation) reviewers() (*[]account.ID, error) {
	if !m.given("reviewers") {
		return nil, nil
	}
	list := []account.ID{}
	for _, id := range m.ids("reviewers") {
		kind, number, _, ok := parseNode(id)
		switch {
		case ok && kind == "Team":
			return nil, refused("Arbor has no teams as reviewers of deployments.")
		case !ok || kind != "User":
			return nil, unresolvedNode(id)
		}
		list = append(list, account.ID(number))
	}
	list = db.Unique(list)
	return &list, nil
}

func deleteEnvironment(ctx context.Context, m *mutation) (map[string]any, error) {
	_, err := m.act(ctx, "id", "Environment", "DELETE /repos/{owner}/{repo}/environments/{environment_name}",
		func(ctx context.Context, a *repo.Access, o *object) error {
			return m.load.Deployments.DeleteEnvironment(ctx, a, o.value.(*deployment.Environment).Name)
		})
	return map[string]any{}, err
}

// updateRefs creates, updates and deletes refs: all, or none.
func updateRefs(ctx context.Context, m *mutation) (map[string]any, error) {
	_, err := m.act(ctx, "repositoryId", "Repository", "PATCH /repos/{owner}/{repo}/git/refs/{ref...}",
		func(ctx context.Context, a *repo.Access, _ *object) error {
			var changes []repo.RefChange
			for _, v := range m.input["refUpdates"].([]any) {
				one, _ := v.(map[string]any)
				c := repo.RefChange{Force: one["force"] == true}
				c.Name, _ = one["name"].(string)
				for name, to := range map[string]*git.SHA{"beforeOid": &c.Before, "afterOid": &c.After} {
					text, given := one[name].(string)
					if *to = git.SHA(strings.ToLower(text)); given && !to.Valid() {
						return errs.Newf(errs.Invalid, "%s is not a SHA", name)
					}
				}
				changes = append(changes, c)
			}
			return m.load.Repos.ChangeRefs(ctx, a, changes)
		})
	return map[string]any{}, err
}
