package sylva

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
)

// gathered are the texts of a folder's objects, by purpose.
type gathered struct {
	texts    map[reference]string
	rendered []reference // in kustomize's order
	release  []reference // what HelmReleases read, the last one wins; nil: nothing
	left     []Left
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) }

// gather sorts the objects of a folder.
func gather(resources resmap.ResMap) (gathered, error) {
	g := gathered{texts: map[reference]string{}}
	for _, object := range resources.Resources() {
		switch kind := object.GetKind(); {
		case kind == "ConfigMap" || kind == "Secret":
			if err := g.add(object); err != nil {
				return g, err
			}
		case kind == "HelmRelease":
			g.reads(object)
		case strings.HasSuffix(kind, "Repository"):
			g.left = append(g.left, Left{Key: kind + " " + object.GetName(), Why: ownRepository})
		default:
			g.left = append(g.left, Left{Key: kind + " " + object.GetName(),
				Why: "it is no value: put it into the folder of a component of your own"})
		}
	}
	return g, nil
}

// add keeps the texts of an object. stringData wins, as it does in a cluster.
func (g *gathered) add(object *resource.Resource) error {
	name := withoutHash(object.GetName())
	content, err := object.Map()
	if err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), name, err)
	}
	for _, field := range []string{"data", "stringData"} {
		texts, _ := content[field].(map[string]any)
		keys := make([]string, 0, len(texts))
		for key := range texts {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			ref := reference{object.GetKind(), name, key}
			text := fmt.Sprint(texts[key])
			if ref.kind == "Secret" && field == "data" {
				decoded, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					return fmt.Errorf("%s: it is no base64", ref)
				}
				text = string(decoded)
			}
			if _, there := g.texts[ref]; !there {
				g.rendered = append(g.rendered, ref)
			}
			g.texts[ref] = text
		}
	}
	return nil
}

// reads records the texts that a HelmRelease reads as values, in its order.
func (g *gathered) reads(release *resource.Resource) {
	content, err := release.Map()
	if err != nil {
		return
	}
	spec, _ := content["spec"].(map[string]any)
	entries, _ := spec["valuesFrom"].([]any)
	for _, entry := range entries {
		from, _ := entry.(map[string]any)
		if from["targetPath"] != nil {
			continue // of the seed's own jobs
		}
		field := func(name, otherwise string) string {
			if text, isText := from[name].(string); isText && text != "" {
				return text
			}
			return otherwise
		}
		g.release = append(g.release, reference{field("kind", ""), withoutHash(field("name", "")),
			field("valuesKey", "values.yaml")})
	}
}

// inOrder returns the texts that are values, the winning one first, and the rest.
func (g *gathered) inOrder() (known []reference, left []Left) {
	left = g.left
	take := func(ref reference) {
		if _, there := g.texts[ref]; there && !slices.Contains(known, ref) {
			known = append(known, ref)
		}
	}
	if g.release == nil { // what a component of kustomize brings comes after what the environment has, and wins
		for _, ref := range slices.Backward(g.rendered) {
			if !slices.Contains(order, ref) && holdsValues(ref) {
				take(ref)
			}
		}
	}
	for _, ref := range slices.Backward(g.release) {
		take(ref)
	}
	for _, ref := range order {
		take(ref)
	}
	for _, ref := range g.rendered {
		if !slices.Contains(known, ref) {
			left = append(left, Left{Key: ref.String(), Why: whyNoValues(ref)})
		}
	}
	return known, left
}

// holdsValues reports whether a key has one of the seed's names for values, such as values, secrets, proxy-values.
func holdsValues(ref reference) bool {
	last := ref.key[strings.LastIndexAny(ref.key, "-_")+1:]
	return last == "values" || last == "secrets" || ref.key == "values.yaml"
}

func whyNoValues(ref reference) string {
	switch ref.key {
	case "CURRENT_COMMIT":
		return ownRepository
	case "username", "password":
		return "it is for the seed's own repository: export GITLAB_USER and GITLAB_TOKEN, which cluster-init takes " +
			"for its source"
	}
	return "no value of the chart is read from it: write what it means into values.yaml, or put it into the folder of " +
		"a component of your own"
}

// withoutHash is the name of a generated object without kustomize's suffix, if it is a name in order.
func withoutHash(name string) string {
	for _, each := range order {
		if rest, is := strings.CutPrefix(name, each.name+"-"); is && len(rest) == 10 && !strings.Contains(rest, "-") {
			return each.name
		}
	}
	return name
}
