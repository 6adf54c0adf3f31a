package localcluster

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
)

// stageFiles are the rules by which KWOK plays kubelets; see the package comment.
//
//go:embed stages/*.yaml
var stageFiles embed.FS

// kwokConfig is the text of KWOK's configuration file: its settings and all
// stages. Without stages it does not start.
func kwokConfig() ([]byte, error) {
	names, err := fs.Glob(stageFiles, "stages/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing KWOK's stages: %w", err)
	}
	var documents [][]byte
	for _, name := range names {
		text, err := stageFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading KWOK's stage %s: %w", name, err)
		}
		documents = append(documents, text)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}

func (c *Cluster) writeKwokConfig() error {
	text, err := kwokConfig()
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.layout.kwokConfig(), text, 0o600); err != nil {
		return fmt.Errorf("writing KWOK's configuration: %w", err)
	}
	return nil
}
