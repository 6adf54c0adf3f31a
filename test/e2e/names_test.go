package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"controller-manager/test/e2e/lab"
)

// names are the names of ReplicaSets: by the Deployment's, those for the collision counts
// nil, 0 and 3.
type names map[string][3]string

// collisionCounts are the counts that each template is tried with.
func collisionCounts() [3]*int32 { return [3]*int32{nil, new(int32(0)), new(int32(3))} }

// TestSameNames compares the names of the ReplicaSets of many different templates with
// those that the built-in loops give. They are kept in a golden file; see TestSideBySide
// for how it is checked and written.
func TestSameNames(t *testing.T) {
	t.Parallel()
	templates := theTemplates()
	if len(templates) < 200 {
		t.Errorf("there are %d templates, want 200 or more", len(templates))
	}
	named := make([]map[string]string, len(collisionCounts()))
	t.Run("collisions", func(group *testing.T) {
		for i, count := range collisionCounts() {
			group.Run(tellCount(count), func(step *testing.T) {
				step.Parallel()
				s := newSpaceUntil(step, t)
				named[i] = s.nameAll(templates, count)
			})
		}
	})
	if t.Failed() {
		return
	}
	got := names{}
	for name := range templates {
		got[name] = [3]string{named[0][name], named[1][name], named[2][name]}
	}
	wantNames(t, got)
}

func tellCount(count *int32) string {
	if count == nil {
		return "nil"
	}
	return fmt.Sprint(*count)
}

// nameAll makes a Deployment of no Pods for each template and returns the names of their
// ReplicaSets, by the Deployment's.
func (s *space) nameAll(templates map[string]corev1.PodTemplateSpec, count *int32) map[string]string {
	s.T.Helper()
	todo := make(chan string, len(templates))
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		todo <- name
	}
	close(todo)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for name := range todo {
				if err := s.createEmpty(name, templates[name], count); err != nil {
					s.T.Errorf("Deployment %s: %v", name, err)
				}
			}
		})
	}
	workers.Wait()
	if s.T.Failed() {
		s.T.FailNow()
	}
	return s.untilNamed(templates)
}

// createEmpty creates a Deployment of no Pods. One with a collision count is created
// paused, so that there is no ReplicaSet before it has the count.
func (s *space) createEmpty(name string, template corev1.PodTemplateSpec, count *int32) error {
	deployments := s.Client.AppsV1().Deployments(s.Name)
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)),
			Paused:   count != nil,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"case": template.Labels["case"]}},
			Template: template,
		},
	}
	if _, err := deployments.Create(s.T.Context(), d, metav1.CreateOptions{}); err != nil {
		return err
	}
	if count == nil {
		return nil
	}
	status := fmt.Sprintf(`{"status":{"collisionCount":%d}}`, *count)
	if _, err := deployments.Patch(s.T.Context(), name, types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	_, err := deployments.Patch(s.T.Context(), name, types.MergePatchType, []byte(`{"spec":{"paused":false}}`), metav1.PatchOptions{})
	return err
}

// untilNamed waits until each Deployment has a ReplicaSet, and says which.
func (s *space) untilNamed(templates map[string]corev1.PodTemplateSpec) map[string]string {
	s.T.Helper()
	st := s.Until("a ReplicaSet for each template", func(st *lab.Story) string {
		if got := len(st.ReplicaSets.Now); got < len(templates) {
			return fmt.Sprintf("there are %d for %d", got, len(templates))
		}
		return ""
	})
	named := map[string]string{}
	for _, rs := range st.ReplicaSets.Present() {
		owner := metav1.GetControllerOf(rs)
		if owner == nil || named[owner.Name] != "" {
			s.T.Fatalf("ReplicaSet %s has no owner, or one that has another ReplicaSet", rs.Name)
		}
		named[owner.Name] = rs.Name
	}
	return named
}

// wantNames compares names with the golden file, or writes it.
func wantNames(t *testing.T, got names) {
	t.Helper()
	file := filepath.Join("testdata", "names.json")
	if *update {
		text, err := json.MarshalIndent(got, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("there is nothing to compare with: %v", err)
	}
	want := names{}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	different := map[string]bool{}
	for _, three := range got {
		for _, name := range three {
			different[name[strings.LastIndex(name, "-")+1:]] = true
		}
	}
	report("same names: %d templates with 3 collision counts each, %d different hashes", len(got), len(different))
}
