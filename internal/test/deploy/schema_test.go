//go:build long

package deploy

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"arbor/internal/test/testkit"
	"arbor/internal/test/tool"
)

// Modules that hold the schemas. Nothing of them is built.
const (
	composeModule    = "github.com/compose-spec/compose-go/v2@v2.9.1"
	kubernetesModule = "k8s.io/client-go@v0.34.1"
	postgresModule   = "github.com/cloudnative-pg/cloudnative-pg@v1.27.0"
)

// Docker Compose refuses a file with a key that it does not know.
func TestComposeFollowsItsSchema(t *testing.T) {
	t.Parallel()
	text := of(t, composeModule, "schema/compose-spec.json")
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	testkit.NoError(t, err)
	s := compile(t, schema, "")
	testkit.NoError(t, s.Validate(plain(t, documents[any](t, compose)[0])))
	wrong := map[string]any{"services": map[string]any{"node": map[string]any{"imagee": "arbor"}}}
	if s.Validate(plain(t, wrong)) == nil {
		t.Error("the schema allows unknown keys")
	}
}

// kubectl ignores or refuses a field that the API does not have.
func TestObjectsFollowTheirSchemas(t *testing.T) {
	t.Parallel()
	kinds := kindsOfKubernetes(t)
	cluster := clusterOfPostgres(t)
	prefixes := map[string]string{"v1": "core.v1", "apps/v1": "apps.v1", "policy/v1": "policy.v1",
		"networking.k8s.io/v1": "networking.v1"}
	for _, o := range documents[map[string]any](t, kubernetes) {
		version, kind := o["apiVersion"].(string), o["kind"].(string)
		schema := cluster
		if prefix, found := prefixes[version]; found {
			schema = compile(t, kinds, "#/$defs/io.k8s.api."+prefix+"."+kind)
		} else if version != "postgresql.cnpg.io/v1" || kind != "Cluster" {
			t.Fatalf("no schema for %s %s", version, kind)
		}
		testkit.NoError(t, schema.Validate(plain(t, o)))
		o["spek"] = 1
		if schema.Validate(plain(t, o)) == nil {
			t.Errorf("the schema of %s allows unknown fields", kind)
		}
	}
}

// of returns a file of a module.
func of(t *testing.T, module, file string) string {
	t.Helper()
	folder := tool.Program{Name: "the schemas of " + module, Module: module}.Folder(t)
	text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(file)))
	testkit.NoError(t, err)
	return string(text)
}

// plain returns a value of YAML as one of JSON.
func plain(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	testkit.NoError(t, err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	testkit.NoError(t, err)
	return v
}

// compile returns a schema, or the one at a place in it.
func compile(t *testing.T, schema any, at string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	testkit.NoError(t, c.AddResource("file:///schema.json", schema))
	s, err := c.Compile("file:///schema.json" + at)
	testkit.NoError(t, err)
	return s
}

// typed is a type of the API of Kubernetes, as its client describes it.
type typed struct {
	Name      string
	Scalar    string
	NamedType string `yaml:"namedType"`
	List      *struct {
		ElementType typed `yaml:"elementType"`
	}
	Map *struct {
		Fields []struct {
			Name string
			Type typed
		}
		ElementType *typed `yaml:"elementType"`
	}
}

// kindsOfKubernetes returns a schema with all types of the API.
func kindsOfKubernetes(t *testing.T) any {
	t.Helper()
	source := of(t, kubernetesModule, "applyconfigurations/internal/internal.go")
	_, text, _ := strings.Cut(source, "typed.YAMLObject(`")
	text, _, _ = strings.Cut(text, "`)")
	var all struct{ Types []typed }
	testkit.NoError(t, yaml.Unmarshal([]byte(text), &all))
	defs := map[string]any{}
	for _, one := range all.Types {
		defs[one.Name] = one.schema()
	}
	return plain(t, map[string]any{"$defs": defs})
}

// schema returns the type as a JSON schema that allows no unknown fields.
func (y typed) schema() any {
	switch {
	case y.NamedType != "":
		return map[string]any{"$ref": "#/$defs/" + y.NamedType}
	case y.Scalar == "string", y.Scalar == "boolean":
		return map[string]any{"type": y.Scalar}
	case y.Scalar == "numeric":
		return map[string]any{"type": "number"}
	case y.Scalar != "":
		return true
	case y.List != nil:
		return map[string]any{"type": "array", "items": y.List.ElementType.schema()}
	case y.Map != nil && y.Map.ElementType != nil:
		return map[string]any{"type": "object", "additionalProperties": y.Map.ElementType.schema()}
	case y.Map != nil:
		fields := map[string]any{}
		for _, f := range y.Map.Fields {
			fields[f.Name] = f.Type.schema()
		}
		return map[string]any{"type": "object", "properties": fields, "additionalProperties": false}
	}
	return true
}

// clusterOfPostgres returns the schema of a cluster of CloudNativePG.
func clusterOfPostgres(t *testing.T) *jsonschema.Schema {
	t.Helper()
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema map[string]any
			}
		}
	}
	text := of(t, postgresModule, "config/crd/bases/postgresql.cnpg.io_clusters.yaml")
	testkit.NoError(t, yaml.Unmarshal([]byte(text), &definition))
	version := definition.Spec.Versions[0]
	if version.Name != "v1" {
		t.Fatalf("the first version is %s, want v1", version.Name)
	}
	schema := plain(t, version.Schema["openAPIV3Schema"])
	refuseUnknown(schema)
	return compile(t, schema, "")
}

// refuseUnknown lets the objects of a schema have no other fields than it names.
func refuseUnknown(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		_, isOpen := s["additionalProperties"]
		if _, named := s["properties"].(map[string]any); named && s["type"] == "object" && !isOpen {
			s["additionalProperties"] = false
		}
		for _, below := range s {
			refuseUnknown(below)
		}
	case []any:
		for _, below := range s {
			refuseUnknown(below)
		}
	}
}
