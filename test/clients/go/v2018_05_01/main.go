// SPDX-License-Identifier: MIT

// The life of a cluster and a job through azure-sdk-for-go's 2018-05-01 package, unmodified.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/services/batchai/mgmt/2018-05-01/batchai"
	"github.com/Azure/go-autorest/autorest/to"

	. "batchaid.test/clients/local"
)

const workspace, experiment = "go", "first"

var (
	group       = os.Args[1]
	workspaces  = batchai.NewWorkspacesClientWithBaseURI(Endpoint, Subscription)
	clusters    = batchai.NewClustersClientWithBaseURI(Endpoint, Subscription)
	experiments = batchai.NewExperimentsClientWithBaseURI(Endpoint, Subscription)
	jobs        = batchai.NewJobsClientWithBaseURI(Endpoint, Subscription)
)

func logIn() {
	authorizer := Must(Authorizer())
	workspaces.Authorizer = authorizer
	clusters.Authorizer = authorizer
	experiments.Authorizer = authorizer
	jobs.Authorizer = authorizer
}

func scale(nodes int32) *batchai.ScaleSettings {
	return &batchai.ScaleSettings{Manual: &batchai.ManualScaleSettings{TargetNodeCount: to.Int32Ptr(nodes)}}
}

func waitSteady(ctx context.Context, nodes int32) {
	get := func() (batchai.Cluster, error) { return clusters.Get(ctx, group, workspace, "nodes") }
	Until(ctx, get, func(c batchai.Cluster) bool {
		return *c.CurrentNodeCount == nodes && *c.NodeStateCounts.IdleNodeCount == nodes
	})
}

func names(ctx context.Context) (found []string) {
	page := Must(clusters.ListByWorkspace(ctx, group, workspace, nil))
	for ; page.NotDone(); Check(page.NextWithContext(ctx)) {
		for _, c := range page.Values() {
			found = append(found, *c.Name)
		}
	}
	return found
}

func makeCluster(ctx context.Context) batchai.Cluster {
	made := Must(workspaces.Create(ctx, group, workspace,
		batchai.WorkspaceCreateParameters{Location: to.StringPtr("northeurope")}))
	Check(made.WaitForCompletionRef(ctx, workspaces.Client))

	future := Must(clusters.Create(ctx, group, workspace, "nodes", batchai.ClusterCreateParameters{
		ClusterBaseProperties: &batchai.ClusterBaseProperties{
			VMSize:        to.StringPtr("Standard_D1"),
			ScaleSettings: scale(1),
			UserAccountSettings: &batchai.UserAccountSettings{
				AdminUserName:     to.StringPtr("demo"),
				AdminUserPassword: to.StringPtr("pw-never-shown"),
			},
		},
	}))
	Check(future.WaitForCompletionRef(ctx, clusters.Client))
	cluster := Must(future.Result(clusters))
	Assert(cluster.ProvisioningState == batchai.ProvisioningStateSucceeded, "%s", cluster.ProvisioningState)
	waitSteady(ctx, 1)
	found := names(ctx)
	Assert(len(found) == 1 && found[0] == "nodes", "listed: %v", found)
	return cluster
}

func runJob(ctx context.Context, cluster batchai.Cluster) {
	made := Must(experiments.Create(ctx, group, workspace, experiment))
	Check(made.WaitForCompletionRef(ctx, experiments.Client))

	future := Must(jobs.Create(ctx, group, workspace, experiment, "hello", batchai.JobCreateParameters{
		JobBaseProperties: &batchai.JobBaseProperties{
			Cluster:               &batchai.ResourceID{ID: cluster.ID},
			NodeCount:             to.Int32Ptr(1),
			StdOutErrPathPrefix:   to.StringPtr("$AZ_BATCHAI_JOB_MOUNT_ROOT/out"),
			CustomToolkitSettings: &batchai.CustomToolkitSettings{CommandLine: to.StringPtr("echo hello from a job")},
			MountVolumes: &batchai.MountVolumes{AzureFileShares: &[]batchai.AzureFileShareReference{{
				AccountName:       to.StringPtr("acct"),
				AzureFileURL:      to.StringPtr("https://acct.file.core.windows.net/out"),
				Credentials:       &batchai.AzureStorageCredentialsInfo{AccountKey: to.StringPtr("c2VjcmV0IGtleQ==")},
				RelativeMountPath: to.StringPtr("out"),
			}}},
		},
	}))
	Check(future.WaitForCompletionRef(ctx, jobs.Client))
	get := func() (batchai.Job, error) { return jobs.Get(ctx, group, workspace, experiment, "hello") }
	job := Until(ctx, get, func(j batchai.Job) bool {
		return j.ExecutionState == batchai.Succeeded || j.ExecutionState == batchai.Failed
	})
	Assert(job.ExecutionState == batchai.Succeeded, "%s", job.ExecutionState)
	Assert(*job.ExecutionInfo.ExitCode == 0, "exit code %d", *job.ExecutionInfo.ExitCode)
}

func readOutput(ctx context.Context) {
	files := Must(jobs.ListOutputFilesComplete(ctx, group, workspace, experiment, "hello", "stdouterr", "", nil, nil))
	text := ""
	for ; files.NotDone(); Check(files.NextWithContext(ctx)) {
		if *files.Value().Name == "stdout.txt" {
			text = Download(*files.Value().DownloadURL)
		}
	}
	Assert(text == "hello from a job\n", "stdout.txt holds %q", text)
}

func cleanUp(ctx context.Context) {
	Must(clusters.Update(ctx, group, workspace, "nodes", batchai.ClusterUpdateParameters{
		ClusterUpdateProperties: &batchai.ClusterUpdateProperties{ScaleSettings: scale(0)},
	}))
	waitSteady(ctx, 0)
	job := Must(jobs.Delete(ctx, group, workspace, experiment, "hello"))
	Check(job.WaitForCompletionRef(ctx, jobs.Client))
	cluster := Must(clusters.Delete(ctx, group, workspace, "nodes"))
	Check(cluster.WaitForCompletionRef(ctx, clusters.Client))
	found := names(ctx)
	Assert(len(found) == 0, "left: %v", found)
	gone, err := clusters.Get(ctx, group, workspace, "nodes")
	Assert(err != nil && gone.StatusCode == 404, "after its deletion: %v", err)
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	logIn()
	cluster := makeCluster(ctx)
	runJob(ctx, cluster)
	readOutput(ctx)
	cleanUp(ctx)
	fmt.Println("ok go 2018-05-01")
}
