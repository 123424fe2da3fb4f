import numpy as np, hashlib
from scipy.optimize import minimize
from paraloom.paraphrasing.selection import probability_right
from paraloom.paraphrasing.edits import english_words
from paraloom.paraphrasing.word_evidence import word_evidence, replaced
Z=dict(np.load("/tmp/words-ev/other.npz")); y=Z["y"].astype(bool); kind=Z["kind"]
E=np.array([word_evidence(english_words(str(a)),english_words(str(b))) for a,b in zip(Z["src"],Z["tgt"])])
lo=lambda p: np.log(np.clip(p,1e-4,1-1e-4)/(1-np.clip(p,1e-4,1-1e-4)))
p0=probability_right(Z["judge"],Z["cost"],Z["change"])
fold=np.array([int(hashlib.md5(str(s).encode()).hexdigest(),16)%10 for s in Z["src"]])
def auc(x,Y):
    a,b=x[Y==1],x[Y==0]; return ((a[:,None]>b).mean()+.5*(a[:,None]==b).mean())
def cv(M,ok):
    M=np.where(np.isnan(M),np.nanmean(M[ok],0),M); z=np.zeros(len(y))
    for f in range(10):
        tr,te=ok&(fold!=f),ok&(fold==f); mu,sd=M[tr].mean(0),M[tr].std(0)+1e-9; A=np.c_[np.ones(tr.sum()),(M[tr]-mu)/sd]; t=y[tr]
        w=minimize(lambda w:(np.logaddexp(0,A@w)-t*(A@w)).sum()+.5*(w[1:]**2).sum(),np.zeros(A.shape[1])).x
        z[te]=w[0]+((M[te]-mu)/sd)@w[1:]
    return 1/(1+np.exp(-z)),w
base=np.c_[lo(Z["judge"]),Z["cost"],Z["change"]]
if __name__=="__main__":
  for k in ("","order"):
    ok=np.isfinite(Z["cost"])&(kind==k)
    print(repr(k),ok.sum(),y[ok].mean(),"now",auc(p0[ok],y[ok]).round(3))
    for n,M in (("base",base),("+ev",np.c_[base,E]),("ev",E),("+fit",np.c_[base,E[:,:1]]),("+like",np.c_[base,E[:,2:]]),("+gain",np.c_[base,E[:,1:2]])):
        p,w=cv(M,ok); print(n,auc(p[ok],y[ok]).round(3),w.round(2),[(t,(ok&(p>=t)).sum(),y[ok&(p>=t)].mean().round(2)) for t in (.6,.7,.75,.8,.85)])
