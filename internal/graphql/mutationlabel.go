package graphql

import (
	"context"

	"arbor/internal/label"
	"arbor/internal/repo"
)

// labelEdit returns what an input says of a label.
func (m *mutation) labelEdit() label.Edit {
	return label.Edit{Name: m.opt("name"), Color: m.opt("color"), Description: m.opt("description")}
}

func createLabel(ctx context.Context, m *mutation) (map[string]any, error) {
	var made *label.Label
	in, err := m.act(ctx, "repositoryId", "Repository", "POST /repos/{owner}/{repo}/labels",
		func(ctx context.Context, a *repo.Access, _ *object) (err error) {
			made, err = m.do.Labels.Create(ctx, a, m.labelEdit())
			return err
		})
	if err != nil {
		return nil, err
	}
	return m.labelPayload(ctx, in, made)
}

func (m *mutation) labelPayload(ctx context.Context, in *object, l *label.Label) (map[string]any, error) {
	o, err := m.shown(ctx, "Label", in, spot{name: l.Name}, l.ID)
	return map[string]any{"label": o}, err
}

func updateLabel(ctx context.Context, m *mutation) (map[string]any, error) {
	var changed *label.Label
	o, err := m.act(ctx, "id", "Label", "PATCH /repos/{owner}/{repo}/labels/{name}",
		func(ctx context.Context, a *repo.Access, o *object) (err error) {
			changed, err = m.do.Labels.Edit(ctx, a, o.name, m.labelEdit())
			return err
		})
	if err != nil {
		return nil, err
	}
	return m.labelPayload(ctx, o.repo, changed)
}

func deleteLabel(ctx context.Context, m *mutation) (map[string]any, error) {
	_, err := m.act(ctx, "id", "Label", "DELETE /repos/{owner}/{repo}/labels/{name}",
		func(ctx context.Context, a *repo.Access, o *object) error {
			return m.do.Deletions.DeleteLabel(ctx, a, o.name)
		})
	return map[string]any{}, err
}

func updateTopics(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.act(ctx, "repositoryId", "Repository", "PUT /repos/{owner}/{repo}/topics",
		func(ctx context.Context, a *repo.Access, _ *object) error {
			_, err := m.do.Settings.SetTopics(ctx, a, m.ids("topicNames"))
			return err
		})
	if err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{"repository": o, "invalidTopicNames": nil}, err
}
