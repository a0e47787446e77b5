// SPDX-License-Identifier: MIT
// A container and its blobs through azure_storage_blob and azure_identity, with their defaults.

use std::env;

use azure_core::{
    credentials::Secret,
    http::{RequestContent, Url},
};
use azure_identity::ClientSecretCredential;
use azure_storage_blob::BlobServiceClient;
use futures::TryStreamExt;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let secret = Secret::new(env::var("AZURE_CLIENT_SECRET")?);
    let credential =
        ClientSecretCredential::new(&env::var("AZURE_TENANT_ID")?, env::var("AZURE_CLIENT_ID")?, secret, None)?;
    let service = BlobServiceClient::new(Url::parse(&env::var("BLOBS")?)?, Some(credential), None)?;
    let container = service.blob_container_client("rust-newest");
    container.create(None).await?;

    let large: Vec<u8> = (0..20_000_000u32).map(|n| (n % 251) as u8).collect();
    for (name, content) in [("large", large), ("small", b"small".to_vec())] {
        let blob = container.blob_client(name);
        blob.upload(RequestContent::from(content.clone()), None).await?;
        let back = blob.download(None).await?.body.collect().await?;
        assert!(back.as_ref() == content.as_slice(), "{name} differs");
    }

    let mut names = Vec::new();
    let mut blobs = container.list_blobs(None)?;
    while let Some(blob) = blobs.try_next().await? {
        names.push(blob.name.unwrap_or_default());
    }
    assert_eq!(names, ["large", "small"]);
    container.delete(None).await?;
    Ok(())
}
