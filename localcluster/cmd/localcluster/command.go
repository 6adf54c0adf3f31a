package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"controller-manager/localcluster"
)

// newCommand is the command with all its verbs. again is closed when the user
// asks a second time to end, and will not wait.
func newCommand(again <-chan struct{}) *cobra.Command {
	root := &cobra.Command{
		Use:           "localcluster",
		Short:         "A real Kubernetes control plane on this machine, with fake nodes.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(os.Stdout)
	root.AddCommand(newBuild(), newUp(again), newDown(), newStatus(), newRun(again))
	return root
}

func newBuild() *cobra.Command {
	return &cobra.Command{
		Use:   "build",
		Short: "Build the programs that are missing; takes minutes the first time.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := localcluster.Build(cmd.Context(), printer(cmd))
			return err
		},
	}
}

func newUp(again <-chan struct{}) *cobra.Command {
	var dir string
	var builtinLoops bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster and stay until Ctrl-C or \"down\".",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return up(cmd, again, localcluster.Options{Dir: dir, BuiltinLoops: builtinLoops})
		},
	}
	dirFlag(cmd, &dir)
	cmd.Flags().BoolVar(&builtinLoops, "builtin-loops", false, "leave the built-in Deployment and ReplicaSet loops on")
	return cmd
}

func newDown() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "down",
		Short: "End the cluster that \"up\" has started.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return down(cmd.Context(), dir, printer(cmd))
		},
	}
	dirFlag(cmd, &dir)
	return cmd
}

func newStatus() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the cluster is up, and where its files are; exit code 1 if it is not.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return status(cmd.Context(), dir, printer(cmd))
		},
	}
	dirFlag(cmd, &dir)
	return cmd
}

func newRun(again <-chan struct{}) *cobra.Command {
	var root, binary, bin string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Start a cluster with the controller-manager, show it at work, and stay until Ctrl-C.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if bin == "" {
				bin = filepath.Join(root, "bin")
			}
			if binary == "" {
				binary = filepath.Join(bin, localcluster.OurUser)
			}
			return runDemo(cmd, again, project{root: root, binary: binary, bin: bin})
		},
	}
	cmd.Flags().StringVar(&root, "root", ".", "the project's folder, which holds deploy/")
	cmd.Flags().StringVar(&bin, "bin", "", "the folder that takes kubectl (default <root>/bin)")
	cmd.Flags().StringVar(&binary, "binary", "", "the controller-manager to run (default <bin>/controller-manager)")
	return cmd
}

func dirFlag(cmd *cobra.Command, dir *string) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir() // no home; where exactly the default is matters little
	}
	cmd.Flags().StringVar(dir, "dir", filepath.Join(cache, "controller-manager", "cluster"), "the cluster's folder")
}

// printer writes a line of progress to standard output.
func printer(cmd *cobra.Command) func(format string, args ...any) {
	return func(format string, args ...any) {
		cmd.Printf(format+"\n", args...)
	}
}
